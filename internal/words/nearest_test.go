package words

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"interva": "interval", "intreval": "interval", "intervall": "interval", "imteral": "interval", "untervals": "", "utnil": "until", "unt": "until", "un": "", "x": ""} {
		if have := Nearest(word, []string{"until", "interval"}); have != want {
			t.Errorf("%s: have %q, want %q", word, have, want)
		}
	}
}
