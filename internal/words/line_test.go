package words

import "testing"

func TestOneLine(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "", "a\tb\r\nc": "a b  c", "a\x1b[2J\x00": "a\ufffd[2J\ufffd", "äé\u202e": "äé\ufffd"} {
		if have := OneLine(s); have != want {
			t.Errorf("%q: have %q, want %q", s, have, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "", "äöü": "äöü", "äöüx": "äöü...", "\xff\xff\xff\xff": "\xff\xff\xff..."} {
		if have := Shorten(s, 3); have != want {
			t.Errorf("%q: have %q, want %q", s, have, want)
		}
	}
}
