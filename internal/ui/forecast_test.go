package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An evenly is a forecast of runs that end at any time between 0 and the
// longest, all the same. The operation is older than the wait by its age.
type evenly struct{ longest, age time.Duration }

func (e evenly) Runs() int                               { return 34 }
func (e evenly) Age(elapsed time.Duration) time.Duration { return e.age + elapsed }
func (e evenly) Quantile(p float64) time.Duration        { return time.Duration(p * float64(e.longest)) }
func (e evenly) Done(age time.Duration) float64          { return float64(age) / float64(e.longest) }

// slowJob is not ready after 10 minutes, and ends after 15.
func slowJob() []poll.Event {
	pending := httpAnswer(200, `{}`)
	return newRecording(jobURL, time.Hour, 0).
		wait(10*time.Minute, nil).attempt(notReady("queued"), pending).
		wait(5*time.Minute, nil).attempt(verdict(status.Success, "", "done"), pending).
		end(poll.Outcome{Ending: poll.Succeeded})
}

func TestForecast_lines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, err := term.Buffers("")
		r := New(Config{Streams: s, Face: Lines, Forecast: evenly{longest: 16 * time.Minute},
			Heartbeat: new(4 * time.Minute), Opening: []string{"more words"}})
		replay(r, slowJob(), nil)
		r.Close()
		golden(t, "forecast/lines.txt", err.String())
	})
}

func TestForecast_age(t *testing.T) {
	t.Parallel()
	have := show(slowJob(), Config{Face: Lines, Forecast: evenly{16 * time.Minute, 4 * time.Minute}})
	if want := "poll: usually 8m (1m36s to 14m24s, 34 runs); about 6m left\n"; !strings.Contains(have, want) {
		t.Errorf("have\n%s\nwant a line\n%s", have, want)
	}
	at := func(age time.Duration) string { return left(evenly{longest: 16 * time.Second}, age) }
	if at(1500*time.Millisecond) != at(time.Second) || at(2*time.Second) == at(time.Second) {
		t.Error("what is left changes, but once a second")
	}
}
