package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// replay shows the events of a recording at the times that it says, each a little late,
// so that none falls together with a redraw. Before the event with number n,
// before(n) is called.
func replay(r *Reporter, events []poll.Event, before func(n int)) {
	began := time.Now()
	shift := func(at time.Time) time.Time {
		if at.IsZero() {
			return at
		}
		return began.Add(at.Sub(events[0].At))
	}
	for i, ev := range events {
		ev.At, ev.State.Began, ev.Deadline, ev.State.Due = shift(ev.At), shift(ev.State.Began), shift(ev.Deadline), shift(ev.State.Due)
		ev.State.Heard = shift(ev.State.Heard)
		if ev.Place != nil {
			place := *ev.Place
			place.ClosedUntil = shift(place.ClosedUntil)
			ev.Place = &place
		}
		time.Sleep(time.Until(ev.At.Add(time.Duration(i) * 1700 * time.Nanosecond)))
		if before != nil {
			before(i)
		}
		r.Event(ev)
	}
}

// film shows events on a terminal and returns what is drawn below each interval, and what stays.
func film(t *testing.T, width int, every time.Duration, events []poll.Event, cfg Config) string {
	t.Helper()
	text := ""
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(t, width, 30)
		cfg.Streams, cfg.Palette = m.streams(), m.streams().Palette(term.ColorAuto)
		r := New(cfg)
		ended := make(chan struct{})
		go func() {
			time.Sleep(1234567 * time.Nanosecond) // not at the moment of a drawing
			for {
				select {
				case <-ended:
					return
				case <-time.After(every):
					rows := strings.Split(strings.TrimSpace(m.text()), "\n")
					text += rows[len(rows)-1] + "\n"
				}
			}
		}()
		replay(r, events, nil)
		close(ended)
		r.Close()
		synctest.Wait()
		text += "== what stays\n" + m.text()
	})
	return text
}

func TestLive_golden(t *testing.T) {
	t.Parallel()
	golden(t, "one/succeeded-live.txt", film(t, 80, 600*time.Millisecond, recordings()["succeeded"], Config{Until: []string{`.state=="done"`}}))
	golden(t, "one/stream-live.txt", film(t, 99, 1500*time.Millisecond, recordings()["stream"], Config{}))
}

// longRun looks every ten seconds, for ten minutes.
func longRun() []poll.Event {
	recording := newRecording(jobURL, 2*time.Hour, 1000)
	for n := range 60 {
		recording.wait(10*time.Second, nil).attempt(notReady(fmt.Sprintf("部署が進行中です %d%%", n/4)), exitAnswer(1, "", ""))
	}
	return recording.end(poll.Outcome{Ending: poll.Interrupted, Reason: "SIGINT"})
}

// What a command writes stands in whole lines above what is drawn.
func TestLive_stderr(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(t, 80, 30)
		r := New(Config{Streams: m.streams()})
		w := r.Stderr()
		replay(r, longRun(), func(n int) {
			if n%3 == 1 && n < 30 {
				fmt.Fprintf(w, "event %d\npartial", n)
			}
		})
		r.Close()
		if n := len(regexp.MustCompile(`(?m)^\| (event|partial)`).FindAllString(m.text(), -1)); n != 20 {
			t.Errorf("%d lines of stderr, want 20:\n%s", n, m.text())
		}
	})
}

// The line fits any terminal: where it is narrow, what matters least is left out.
func TestLive_layout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		answer := httpAnswer(200, `{"progress":62}`)
		answer.Hint = &status.Hint{Wait: 4200 * time.Millisecond, Source: "Retry-After"}
		run := newRecording(jobURL, 2*time.Hour, 500).wait(time.Second, nil).
			attempt(verdict(status.Throttled, "", "HTTP 429, Retry-After asks for 4.2s"), answer).wait(4200*time.Millisecond, answer.Hint)
		widths := []int{120, 100, 80, 70, 60, 50, 40, 30, 25, 24}
		for _, unicode := range []bool{true, false} {
			m := newTerminal(t, 80, 24)
			s := m.streams()
			s.Unicode = unicode
			r := New(Config{Streams: s})
			for _, ev := range run.events {
				r.Event(ev)
			}
			for _, width := range widths {
				m.resize(width)
				line := strings.Join(r.live(run.events[len(run.events)-1].At), "\n")
				if w := term.Width(line); w >= width {
					t.Errorf("%d columns for %d: %q", w, width, line)
				}
				fmt.Fprintf(&b, "%3d %s|\n", width, line)
			}
			r.Close()
			widths = []int{120, 80, 60}
		}
		golden(t, "layout.txt", b.String())
	})
}
