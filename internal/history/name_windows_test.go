package history_test

import (
	"testing"

	"github.com/pollcli/poll/internal/history"
)

// A colon would begin a stream, and a device counts as one.
func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a:b": false, "a*": false, "a?": false, `a"b`: false, "<a": false, "a|b": false,
		"console": true, "com10": true, "deploy-nul": true, "übung": true,
	} {
		if err := history.CheckName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
