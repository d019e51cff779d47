package cli

import (
	"strings"
	"testing"
)

// With --json there is an object on stdout, even where the command line is wrong
// before --json.
func TestRun_jsonOfUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line string
		want bool
	}{
		{"poll --json --bogus", true},
		{"poll --bogus 5s --json true", true},
		{"poll --json=true --bogus", true},
		{"poll eval --json --bogus", false},
		{"POLL_JSON=1 poll --bogus", true},
		{"POLL_JSON=1 POLL_STRICT=perhaps poll true", true},
		{"poll --bogus -- true --json", false}, // the command's own
		{"POLL_JSON=1 poll --json=false --timeout 5 true", false},
	} {
		world, out := worldOf(t, test.line)
		if code := Run(t.Context(), world); code != ExitUsage {
			t.Errorf("%s: have exit code %d, want %d", test.line, code, ExitUsage)
		}
		if have := strings.Contains(out.out.String(), `"exit":2`); have != test.want {
			t.Errorf("%s: have %q on stdout", test.line, &out.out)
		}
	}
}
