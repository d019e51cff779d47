package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

// A command that does not end is spoken of once.
func TestNoticeLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams, _, said := term.Buffers("")
		reporter := report.New(report.Config{Streams: streams, Face: report.Lines})
		defer reporter.Close()
		reporter.Event(poll.Event{Kind: poll.EventWait, Attempt: 1, At: time.Now()})
		long := noticeLong(reporter)
		for _, step := range []struct {
			runs time.Duration
			want int
		}{{longCommand - time.Second, 0}, {longCommand + time.Second, 1}, {3 * longCommand, 1}} {
			long.Reset(longCommand)
			time.Sleep(step.runs)
			long.Stop()
			synctest.Wait()
			if have := strings.Count(said.String(), "poll: note: the command has run for 10 s: its output is judged when it ends"); have != step.want {
				t.Errorf("after %s: said %d times, want %d: %q", step.runs, have, step.want, said.String())
			}
		}
	})
}
