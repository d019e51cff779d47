package targets

import (
	"strings"
	"testing"
)

// Lines and columns are those that an editor shows, and lead back to the byte.
func TestIndex(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("aé😀", 400) + "\n\n" + strings.Repeat("b\n", 300) + "\r\nüü"
	x := newIndex(text)
	line, column := 1, 1
	for at, r := range text + "$" {
		if l, c := x.position(at); l != line || c != column {
			t.Fatalf("byte %d: have %d:%d, want %d:%d", at, l, c, line, column)
		}
		if have := x.offset(line, column); have != at {
			t.Fatalf("%d:%d: have byte %d, want %d", line, column, have, at)
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	for _, outside := range [][2]int{{0, 1}, {line + 1, 1}, {line, 1000}} {
		if have := x.offset(outside[0], outside[1]); have != len(text) {
			t.Errorf("%v: have byte %d, want %d", outside, have, len(text))
		}
	}
}
