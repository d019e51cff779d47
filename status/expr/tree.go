package expr

import (
	"cmp"
	"slices"
	"strings"
)

// A tree is a list or an object taken apart, for comparing it with another. It
// is made in one pass, however deep the text is nested.
type tree struct {
	value
	keys  []string // of an object, sorted
	items []tree   // of a list; of an object, in the order of keys
}

// equal reports whether two values are equal: null is missing, the types are
// the same, numbers are compared exactly, and the order of keys does not count.
func (e *evaluator) equal(a, b value) bool {
	e.tick(baseSteps)
	if a.isNull() || b.isNull() {
		return a.isNull() && b.isNull()
	}
	if a.kind != b.kind {
		return false
	}
	if a.kind == KindString {
		e.tick(min(len(a.str), len(b.str)))
		return a.str == b.str
	}
	e.tick(a.cost() + b.cost())
	switch a.kind {
	case KindNumber:
		return compareNumbers(a, b) == 0
	case KindArray, KindObject:
		return a.raw == b.raw || e.equalTrees(e.tree(a), e.tree(b))
	}
	return a.raw == b.raw
}

func (e *evaluator) equalTrees(a, b tree) bool {
	if a.kind != KindArray && a.kind != KindObject {
		return e.equal(a.value, b.value)
	}
	return a.kind == b.kind && slices.Equal(a.keys, b.keys) && slices.EqualFunc(a.items, b.items, e.equalTrees)
}

// parseTree takes a valid JSON text apart.
func parseTree(raw string) tree {
	t, _ := readTree(raw, skipSpace(raw, 0))
	return t
}

// readTree reads the value at s[i] and returns the offset behind it.
func readTree(s string, i int) (tree, int) {
	switch s[i] {
	case '[':
		return readArray(s, i+1)
	case '{':
		return readObject(s, i+1)
	}
	end := scalarEnd(s, i)
	return tree{value: parseValue(s[i:end]).prepared()}, end
}

// scalarEnd is the offset behind the scalar at s[i].
func scalarEnd(s string, i int) int {
	if s[i] == '"' {
		end, _ := scanString(s, i+1)
		return end
	}
	if n := strings.IndexAny(s[i:], ",]} \t\r\n"); n >= 0 {
		return i + n
	}
	return len(s)
}

func readArray(s string, i int) (tree, int) {
	t := tree{value: value{kind: KindArray}}
	for i = skipSeparators(s, i); s[i] != ']'; i = skipSeparators(s, i) {
		var item tree
		item, i = readTree(s, i)
		t.items = append(t.items, item)
	}
	return t, i + 1
}

func readObject(s string, i int) (tree, int) {
	type member struct {
		key  string
		item tree
		at   int
	}
	var members []member
	for i = skipSeparators(s, i); s[i] != '}'; i = skipSeparators(s, i) {
		var m member
		end := scalarEnd(s, i)
		m.key = parseValue(s[i:end]).str
		m.item, i = readTree(s, skipSeparators(s, end))
		m.at = i
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
	})
	// Of equal keys the first counts, as it does for a path.
	members = slices.CompactFunc(members, func(a, b member) bool { return a.key == b.key })
	t := tree{value: value{kind: KindObject}}
	for _, m := range members {
		t.keys = append(t.keys, m.key)
		t.items = append(t.items, m.item)
	}
	return t, i + 1
}

// skipSeparators skips white space, commas and colons.
func skipSeparators(s string, i int) int {
	for s[i] <= ' ' || s[i] == ',' || s[i] == ':' {
		i++
	}
	return i
}

// compact writes a valid JSON text without white space, and its strings and
// numbers in the usual form.
func compact(raw string) string {
	b := make([]byte, 0, len(raw))
	for i := skipSpace(raw, 0); i < len(raw); i = skipSpace(raw, i) {
		switch c := raw[i]; {
		case c == '"':
			end := scalarEnd(raw, i)
			b = appendQuoted(b, parseValue(raw[i:end]).str)
			i = end
		case c == '-' || isDigit(c):
			end := scalarEnd(raw, i)
			b = append(b, numberText(raw[i:end])...)
			i = end
		default:
			b = append(b, c)
			i++
		}
	}
	return string(b)
}
