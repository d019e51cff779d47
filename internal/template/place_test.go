package template

import "testing"

func TestClosingBrace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		want int
	}{
		{".a}/x", 2}, {`.["}"]}`, 6}, {`.a.@pretty:{"x":1}}`, 18}, {`.["\"}"]}`, 8}, {".a", -1}, {`."}`, -1},
	} {
		if have := closingBrace(test.in); have != test.want {
			t.Errorf("%s: have %d, want %d", test.in, have, test.want)
		}
	}
}
