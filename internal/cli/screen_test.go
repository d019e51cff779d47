package cli

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/cli/run"
)

// shown returns the output of a command on a terminal with 60 columns and without colors.
func shown(t *testing.T, line string, unicode bool) string {
	t.Helper()
	process, out := processOf(t, line)
	process.Streams.OutIsTerminal = true
	process.Streams.OutWidth = func() int { return 60 }
	process.Streams.NoColor = true
	process.Streams.Unicode = unicode
	if code := Run(t.Context(), process); code != run.ExitSuccess {
		t.Fatalf("%s: exit code %d: %s", line, code, &out.err)
	}
	return out.out.String()
}

// Charts are printed for people only: programs that read a table or JSON get no chart.
func TestScreen(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]bool{"table": true, "json": false} {
		if text := shown(t, "poll schedule --attempts 3 --format "+format, true); strings.Contains(text, "┤") != want {
			t.Errorf("a chart below %s: have %v, want %v:\n%s", format, !want, want, text)
		}
	}
	process, out := processOf(t, "poll schedule --attempts 3")
	if Run(t.Context(), process); strings.Contains(out.out.String(), "┤") {
		t.Errorf("a chart where there is no terminal:\n%s", &out.out)
	}
}
