package rawjson

import (
	"slices"
	"strconv"
	"strings"
)

// Canonical returns a text that is the same for two valid JSON texts exactly if they are
// equal: numbers by value, strings by characters, objects in any order of keys. Of equal
// keys the first counts, as for a path. The text is not JSON.
func Canonical(raw string) string {
	t, _ := parseTree(raw, SkipSpace(raw, 0))
	return string(t.appendTo(make([]byte, 0, len(raw))))
}

// CanonicalText is the Canonical of a JSON string with these characters.
func CanonicalText(s string) string { return strconv.Quote(s) }

// A tree is a parsed JSON text. Parsing takes one pass, however deep the text is nested.
type tree struct {
	raw     string   // a scalar; of a list "[", and of an object "{"
	members []member // of an object, sorted by their keys
}

type member struct {
	key   string // "" in a list
	value tree
}

// parseTree reads the value at s[i] and returns the offset after it.
func parseTree(s string, i int) (tree, int) {
	object := s[i] == '{'
	if !object && s[i] != '[' {
		end := scalarEnd(s, i)
		return tree{raw: s[i:end]}, end
	}
	t := tree{raw: s[i : i+1]}
	for i = skipSeparators(s, i+1); s[i] != ']' && s[i] != '}'; i = skipSeparators(s, i) {
		var m member
		if object {
			end := scalarEnd(s, i)
			m.key = Unquote(s[i:end])
			i = skipSeparators(s, end)
		}
		m.value, i = parseTree(s, i)
		t.members = append(t.members, m)
	}
	if object {
		slices.SortStableFunc(t.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		t.members = slices.CompactFunc(t.members, func(a, b member) bool { return a.key == b.key })
	}
	return t, i + 1
}

func (t *tree) appendTo(b []byte) []byte {
	switch c := t.raw[0]; {
	case c == '"':
		return strconv.AppendQuote(b, Unquote(t.raw))
	case c == '-' || IsDigit(c):
		return ParseNumber(t.raw).appendTo(b)
	case c != '[' && c != '{':
		return append(b, t.raw...)
	}
	b = append(b, t.raw...)
	for _, m := range t.members {
		if t.raw == "{" {
			b = strconv.AppendQuote(b, m.key)
		}
		b = append(m.value.appendTo(b), ',')
	}
	return append(b, ']')
}

// scalarEnd is the offset after the scalar at s[i].
func scalarEnd(s string, i int) int {
	if s[i] == '"' {
		end, _ := ScanString(s, i)
		return end
	}
	if n := strings.IndexAny(s[i:], ",]} \t\r\n"); n >= 0 {
		return i + n
	}
	return len(s)
}

// skipSeparators skips white space, commas and colons.
func skipSeparators(s string, i int) int {
	for s[i] <= ' ' || s[i] == ',' || s[i] == ':' {
		i++
	}
	return i
}
