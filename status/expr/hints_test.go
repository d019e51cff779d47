package expr

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// TestRowParts tests the parts in hints.txt: each match of a row's pattern contains the part.
func TestRowParts(t *testing.T) {
	for name, list := range rows() {
		for _, row := range list {
			re, err := syntax.Parse(row.pattern().String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			if text := literals(re); !strings.Contains(text, row.part) {
				t.Errorf("%s with %s: a text that matches %s need not contain the part", name, row.part, re)
			}
		}
	}
}

// literals returns the texts that each match of re contains, in order, with a NUL between them.
func literals(re *syntax.Regexp) (all string) {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return string(re.Rune)
	case re.Op != syntax.OpConcat:
		return "\x00"
	}
	for _, sub := range re.Sub {
		all += literals(sub)
	}
	return all
}
