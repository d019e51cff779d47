package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScreen compares what a terminal shows with testdata/screen.txt.
func TestScreen(t *testing.T) {
	t.Parallel()
	have := shown(t, "poll schedule --attempts 12", true)
	const golden = "testdata/screen.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(have), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

// shown is what a command prints on a terminal of 60 columns without colours.
func shown(t *testing.T, line string, unicode bool) string {
	t.Helper()
	world, out := worldOf(t, line)
	world.Streams.OutIsTerminal = true
	world.Streams.OutWidth = func() int { return 60 }
	world.Streams.NoColor = true
	world.Streams.Unicode = unicode
	if code := Run(t.Context(), world); code != ExitSuccess {
		t.Fatalf("%s: exit code %d: %s", line, code, &out.err)
	}
	return out.out.String()
}

// A chart is for people: a program that reads a table, or JSON from a
// terminal's log, gets none.
func TestScreen_none(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"csv", "json"} {
		if text := shown(t, "poll schedule --attempts 3 --format "+format, true); strings.Contains(text, "┤") {
			t.Errorf("a chart below %s:\n%s", format, text)
		}
	}
	world, out := worldOf(t, "poll schedule --attempts 3")
	if Run(t.Context(), world); strings.Contains(out.out.String(), "┤") {
		t.Errorf("a chart where there is no terminal:\n%s", &out.out)
	}
}
