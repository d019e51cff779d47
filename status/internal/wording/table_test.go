package wording

import "testing"

func TestTable(t *testing.T) {
	t.Parallel()
	table := ParseTable(`
# A comment :: ^x :: no row
sign :: ^(=<|<<) :: $1 is no operator, $$5 :: write <=
sign :: ^< :: never
sign :: ^pass
word :: ^(\w+) :: $_ begins with $1
`)
	for _, test := range []struct {
		about, text, message, hint string
		found                      bool
	}{
		{"sign", "=< 5", "=< is no operator, $5", "write <=", true},
		{"sign", "< 5", "never", "", true},
		{"sign", "pass", "", "", true},
		{"sign", "> 5", "", "", false},
		{"word", "a $1 b", "a $1 b begins with a", "", true},
		{"", "x", "", "", false},
	} {
		message, hint, found := table.Find(test.about, test.text)
		if message != test.message || hint != test.hint || found != test.found {
			t.Errorf("%s %q: have %q, %q, %t", test.about, test.text, message, hint, found)
		}
	}
}
