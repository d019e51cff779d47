package run

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A long-running command causes exactly one note.
func TestNoticeLong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		runs []time.Duration // of the command
		want int
	}{
		{[]time.Duration{longCommand - time.Second, longCommand - time.Second}, 0},
		{[]time.Duration{longCommand - time.Second, longCommand + time.Second}, 1},
		{[]time.Duration{longCommand + time.Second, 3 * longCommand}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			streams, _, said := term.Buffers("")
			reporter := ui.New(ui.Config{Streams: streams, Face: ui.Lines})
			reporter.Event(poll.Event{Kind: poll.EventWait, At: time.Now()})
			long := noticeLong(reporter)
			for _, runs := range test.runs {
				long.Reset(longCommand)
				time.Sleep(runs)
				long.Stop()
				synctest.Wait()
			}
			reporter.Close()
			if have := strings.Count(said.String(), "poll: note: the command has run for 10 s: its output is judged when it ends"); have != test.want {
				t.Errorf("runs of %s: said %d times, want %d: %q", test.runs, have, test.want, said.String())
			}
		})
	}
}
