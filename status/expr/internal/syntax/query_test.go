package syntax

import "testing"

func TestWildcards(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern   string
		yes, noes []string
	}{
		{``, []string{""}, []string{"a"}},
		{`a*c`, []string{"ac", "abc", "a\nc", "aéc", "a*c", "acc"}, []string{"", "a", "bac", "acb", "AC"}},
		{`a?c`, []string{"abc", "aéc", "a\nc", "a\xffc"}, []string{"ac", "abbc"}},
		{`*`, []string{"", "a", "\xff\n"}, nil},
		{`a\*c`, []string{"a*c"}, []string{"abc", `a\*c`}},
		{`a\?`, []string{"a?"}, []string{"ab"}},
		{`a\\b\c`, []string{`a\bc`}, []string{`a\\bc`}},
		{`a\`, []string{`a\`}, []string{"a"}},
		{`a.(b)+[c]`, []string{"a.(b)+[c]"}, []string{"axb", "a.bbc"}},
		{`*a*b`, []string{"ab", "xaxb", "aab", "abab"}, []string{"ba", "aba"}},
	} {
		re := wildcards(test.pattern)
		for _, text := range test.yes {
			if !re.MatchString(text) {
				t.Errorf("%q does not match %q", test.pattern, text)
			}
		}
		for _, text := range test.noes {
			if re.MatchString(text) {
				t.Errorf("%q matches %q", test.pattern, text)
			}
		}
	}
}
