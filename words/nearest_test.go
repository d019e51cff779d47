package words

import "testing"

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "acb", 1},
		{"abc", "ab", 1},
		{"kitten", "sitting", 3},
	} {
		if have := distance(test.a, test.b); have != test.want {
			t.Errorf("%q, %q: have %d, want %d", test.a, test.b, have, test.want)
		}
		if have := distance(test.b, test.a); have != test.want {
			t.Errorf("%q, %q: have %d, want %d", test.b, test.a, have, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"interva": "interval", "intreval": "interval", "intervall": "interval", "imteral": "interval", "untervals": "", "x": ""} {
		if have := Nearest(word, []string{"until", "interval"}); have != want {
			t.Errorf("%s: have %q, want %q", word, have, want)
		}
	}
}
