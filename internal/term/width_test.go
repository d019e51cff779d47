package term

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abcd", 1, "a"},
		{"abcd", 0, ""},
		{"abcd", -1, ""},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"}, // half a character is none
		{"ééé", 3, "ééé"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👩\u200d🚀👩\u200d🚀", 3, "👩\u200d🚀…"},
		{strings.Repeat("a", 1e6), 5, "aaaa…"},
	}
	for _, test := range tests {
		if have := Cut(test.in, test.width, "…"); have != test.want {
			t.Errorf("Cut(%.20q, %d) = %q, want %q", test.in, test.width, have, test.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = min(width, 1000)
		s = Line(s)
		have := Cut(s, width, "…")
		if w := Width(have); w > max(width, 0) {
			t.Errorf("Cut(%q, %d) = %q is %d columns wide", s, width, have, w)
		}
		if Width(s) <= width && len(s) < 16*width && have != s {
			t.Errorf("Cut(%q, %d) = %q though it fits", s, width, have)
		}
	})
}
