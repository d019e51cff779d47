package cli

import "testing"

func TestHasScheme(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"http://h": true, "HTTPS://": true, "a.b+c-1://x": true,
		"://h": false, "1http://h": false, "+x://h": false, ".x://h": false, "-x://h": false,
		"ht tp://h": false, "a/b://h": false, "http:/h": false, "http": false, "": false,
	} {
		if have := hasScheme(word); have != want {
			t.Errorf("%q: have %t, want %t", word, have, want)
		}
	}
}
