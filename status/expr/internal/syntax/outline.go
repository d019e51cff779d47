package syntax

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// cutTop cuts s at the separators that stand outside of brackets and quotes;
// separator is the length of the one at an offset, 0 for none. It returns nil
// where brackets or quotes are not closed.
func cutTop(s string, separator func(s string, i int) int) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			if i = quoteEnd(s, i); i < 0 {
				return nil
			}
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth < 0 {
				return nil
			}
		case depth == 0:
			if n := separator(s, i); n > 0 {
				parts = append(parts, strings.TrimSpace(s[from:i]))
				from = i + n
				i = from - 1
			}
		}
	}
	if depth > 0 {
		return nil
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// quoteEnd is the offset of the quote that closes the one at s[i], -1 for none.
func quoteEnd(s string, i int) int {
	for quote := s[i]; ; {
		if i++; i >= len(s) {
			return -1
		}
		switch s[i] {
		case quote:
			return i
		case '\\':
			i++
		}
	}
}

// stages cuts a pipeline at its pipes, and behind what is followed by a path:
// select(C).name is select(C) | .name.
func stages(s string) []string {
	var parts []string
	for _, part := range cutTop(s, pipeAt) {
		for _, open := range [...]string{"select(", "first(", "last(", "map(", "["} {
			in, rest, ok := inside(part, open)
			if !ok || rest == "" || rest[0] != '.' && rest[0] != '[' {
				continue
			}
			parts = append(parts, open+in+part[len(part)-len(rest)-1:len(part)-len(rest)])
			if part = rest; rest[0] == '[' {
				part = "." + rest
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// pipeAt is the length of the pipe at an offset.
func pipeAt(s string, i int) int {
	if s[i] != '|' || i > 0 && s[i-1] == '|' || strings.HasPrefix(s[i:], "||") {
		return 0
	}
	return 1
}

// joined pipes stages into each other.
func joined(stages []string) string { return strings.Join(stages, " | ") }

// operands cuts at a word such as "and".
func operands(s, word string) []string {
	return cutTop(s, func(s string, i int) int {
		if !strings.HasPrefix(s[i:], word) || i == 0 || isWordByte(s[i-1]) || s[i-1] == '.' || isWordByte((s + " ")[i+len(word)]) {
			return 0
		}
		return len(word)
	})
}

func isWordByte(c byte) bool { return rawjson.IsDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// sides cuts a comparison at its operator; op is "" where there is none, or one
// that binds less.
func sides(s string) (left, op, right string) {
	if len(operands(s, "and")) > 1 || len(operands(s, "or")) > 1 || len(cutTop(s, looseAt)) > 1 {
		return "", "", ""
	}
	parts := cutTop(s, func(s string, i int) int {
		for _, sign := range [...]string{"==", "!=", "<=", ">=", "<", ">"} {
			if strings.HasPrefix(s[i:], sign) {
				op = sign
				return len(sign)
			}
		}
		return 0
	})
	if len(parts) != 2 {
		return "", "", ""
	}
	return parts[0], op, parts[1]
}

// looseAt is the length of a comma, a pipe or a // at an offset.
func looseAt(s string, i int) int {
	switch {
	case s[i] == ',' || s[i] == '|':
		return 1
	case strings.HasPrefix(s[i:], "//"):
		return 2
	}
	return 0
}

// inside is what stands between an opening text such as "select(" and the closing
// bracket that belongs to it, and what follows that.
func inside(s, open string) (in, rest string, ok bool) {
	if !strings.HasPrefix(s, open) {
		return "", "", false
	}
	depth := 0
	for i := len(open) - 1; i >= 0 && i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			if i = quoteEnd(s, i); i < 0 {
				return "", "", false
			}
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return strings.TrimSpace(s[len(open):i]), s[i+1:], true
			}
		}
	}
	return "", "", false
}

// whole is like inside where nothing may follow.
func whole(s, open string) (in string, ok bool) {
	in, rest, ok := inside(s, open)
	return in, ok && strings.TrimSpace(rest) == ""
}
