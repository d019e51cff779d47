package read

import (
	"strings"
	"testing"
)

// A list may be empty only with --expect 0, which the library represents as -1.
func TestReadList_expect(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"": 0, "--expect=0": -1, "--expect=3": 3} {
		s, _, err := lineOf(t, append(strings.Fields(flag), "--each=.", "--until=.x", "http://h")...)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := s.ReadList(); err != nil || list.Expect != want {
			t.Errorf("%s: have %v, %v, want %d", flag, list.Expect, err, want)
		}
	}
}
