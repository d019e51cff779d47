package ui

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A screen is a terminal that understands what the live face writes.
type screen struct {
	t          *testing.T
	mu         sync.Mutex // the Reporter asks and writes on its timer's goroutine
	width      int
	told       int // the width that the Reporter last asked for
	foreground bool
	rows       []string // above the line of the cursor
	line       string   // the line of the cursor
	last       string   // the last drawing
	draws      []time.Time
	drawings   []string
	raw        strings.Builder
}

func newScreen(t *testing.T, width int) *screen {
	return &screen{t: t, width: width, foreground: true}
}

func (s *screen) streams() *term.Streams {
	return &term.Streams{Err: s, ErrIsTerminal: true, Unicode: true,
		Width: s.columns, Height: func() int { return 24 },
		Foreground: func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.foreground }}
}

// columns is the width, and remembers what was said: a drawing that is under way
// when the width changes is still right for the one before.
func (s *screen) columns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = s.width
	return s.told
}

// set changes something that the Reporter may look at.
func (s *screen) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(p)
	text := escapes.ReplaceAllString(string(p), "")
	if rest, ok := strings.CutPrefix(text, eraseLines); ok && rest != "\r" {
		text = rest
		s.line = ""
	}
	text, drawn, ok := strings.Cut(text, "\r")
	if ok {
		s.draw(drawn)
	}
	if strings.Contains(text, "\x1b") || text != "" && !strings.HasSuffix(text, "\n") {
		s.t.Fatalf("not a line: %q", p)
	}
	if s.line != "" && !ok && text != "" {
		s.t.Fatalf("%q runs into %q", text, s.line)
	}
	for row := range strings.Lines(text) {
		s.rows = append(s.rows, strings.TrimSuffix(row, "\n"))
	}
	return len(p), nil
}

// draw takes what follows the carriage return of a drawing.
func (s *screen) draw(text string) {
	line, ok := strings.CutSuffix(text, "\x1b[J\r")
	if !ok || strings.ContainsAny(line, "\r\n\x1b") {
		s.t.Fatalf("not a drawing: %q", text)
	}
	if w := term.Width(line); w >= s.told && line != s.line {
		s.t.Fatalf("%d columns in a terminal of %d: %q", w, s.told, line)
	}
	if line == s.last {
		s.line = line // the same again, below what was said
		return
	}
	s.line, s.last = line, line
	s.draws = append(s.draws, time.Now())
	s.drawings = append(s.drawings, line)
}

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

func TestLive_golden(t *testing.T) {
	t.Parallel()
	for name, width := range map[string]int{"succeeded": 80, "shared": 80, "timed-out": 40} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen(t, width)
			r := New(Config{Streams: s.streams(), Palette: s.streams().Palette(term.ColorAuto), Until: []string{`.state=="done"`}})
			replay(r, recordings()[name], nil)
			r.Close()
			if s.line != "" {
				t.Errorf("%q is left on the screen", s.line)
			}
			golden(t, "one/"+name+"-live.txt", strings.Join(s.drawings, "\n")+"\n== what stays\n"+strings.Join(s.rows, "\n")+"\n")
		})
	}
}

// longRun is an hour in which nothing but the words change.
func longRun() []poll.Event {
	recording := newRecording(jobURL, 2*time.Hour, 1000)
	for n := range 360 {
		recording.wait(10*time.Second, nil).attempt(notReady(fmt.Sprintf("部署が進行中です %d%%", n/4)), exitAnswer(1, "", ""))
	}
	return recording.end(poll.Outcome{Ending: poll.Interrupted, Reason: "SIGINT"})
}

func TestLive_redraw(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		replay(r, longRun(), nil)
		r.Close()
		for i := 1; i < len(s.draws); i++ {
			gap := s.draws[i].Sub(s.draws[i-1])
			if gap < redraw || gap > 2*redraw {
				t.Fatalf("%v between two drawings, want %v", gap, redraw)
			}
		}
		if n := len(s.draws); n < 30000 {
			t.Errorf("only %d drawings in an hour", n)
		}
		// Opening, first verdict, headline, two lines of summary, exit code.
		if n := len(s.rows); n > 6 {
			t.Errorf("%d lines stay: %q", n, s.rows)
		}
	})
}

// What is written between Clear and the next event has the screen to itself.
func TestLive_clear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		events := newRecording(jobURL, time.Minute, 0).wait(2*time.Second, nil).attempt(notReady("queued"), httpAnswer(202, "")).
			end(poll.Outcome{Ending: poll.Succeeded})
		last := len(events) - 1
		replay(r, events[:last], nil)
		time.Sleep(time.Second)
		if synctest.Wait(); s.line == "" {
			t.Fatal("nothing is drawn")
		}
		r.Clear()
		time.Sleep(time.Second)
		if synctest.Wait(); s.line != "" {
			t.Errorf("%q is drawn again", s.line)
		}
		r.Event(events[last])
		r.Close()
		if len(s.rows) == 0 || !strings.HasPrefix(s.rows[len(s.rows)-1], "poll: ") {
			t.Errorf("have %q, want closing words", s.rows)
		}
	})
}

// Many attempts a second are no reason to draw more often.
func TestLive_noFlicker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		recording := newRecording("true", 0, 0)
		for range 300 {
			recording.attempt(notReady("exit 1"), exitAnswer(1, "", ""))
			recording.now -= 49 * time.Millisecond // 1 ms for each
		}
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		replay(r, recording.end(poll.Outcome{Ending: poll.AttemptsExhausted}), nil)
		r.Close()
		if n := len(s.draws); n > 5 {
			t.Errorf("%d drawings in 0.3 s", n)
		}
	})
}

// The line follows the size of the terminal, also when that is absurd.
func TestLive_resize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		go func() {
			for _, w := range []int{200, 60, 40, 21, 10, 2, 1, 80} {
				time.Sleep(time.Minute)
				s.set(func() { s.width = w })
			}
		}()
		replay(r, longRun(), nil)
		r.Close()
	})
}

// In the background nothing is drawn and nothing erased; only the end is said.
func TestLive_background(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		events := longRun()
		var drawn int
		replay(r, events, func(n int) {
			s.set(func() {
				switch n {
				case 100: // Ctrl-Z and bg
					s.foreground, s.line = false, ""
					drawn = len(s.draws)
					s.raw.Reset()
				case 200:
					if have := s.raw.String(); have != "" {
						t.Errorf("written in the background: %.200q", have)
					}
					s.foreground = true
				case 300:
					if len(s.draws) == drawn {
						t.Error("nothing is drawn after fg")
					}
					s.foreground, s.line = false, ""
					s.raw.Reset()
				}
			})
		})
		r.Close()
		if have := s.raw.String(); strings.Contains(have, "\x1b") || !strings.HasPrefix(have, "poll: interrupted") {
			t.Errorf("at the end in the background: %.200q", have)
		}
	})
}

// What a command says stands in whole lines above the line that is drawn.
func TestLive_stderr(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80)
		r := New(Config{Streams: s.streams()})
		w := r.Stderr()
		events := longRun()
		replay(r, events, func(n int) {
			if n%3 == 1 && n < 30 {
				fmt.Fprintf(w, "event %d\npartial", n)
			}
		})
		r.Close()
		n := 0
		for _, row := range s.rows {
			if strings.HasPrefix(row, "| event") || row == "| partial" || strings.HasPrefix(row, "| partialevent") {
				n++
			}
		}
		if n != 20 {
			t.Errorf("%d lines of stderr, want 20: %q", n, s.rows)
		}
	})
}

// The line fits any terminal: where it is narrow, what matters least is left out.
func TestLive_layout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		run := newRecording(jobURL, 2*time.Hour, 500).wait(time.Second, nil).
			attempt(verdict(status.Throttled, "", "HTTP 429"), httpAnswer(200, `{"progress":62}`)).
			wait(4200*time.Millisecond, &status.Hint{Wait: 4200 * time.Millisecond, Source: "Retry-After"})
		for _, unicode := range []bool{true, false} {
			m := newTerminal(t, 80, 24)
			s := m.streams()
			s.Unicode = unicode
			r := New(Config{Streams: s})
			for _, ev := range run.events {
				r.Event(ev)
			}
			for _, width := range []int{120, 100, 80, 70, 60, 50, 40, 30, 25, 24} {
				m.resize(width)
				line := strings.Join(r.live(run.events[len(run.events)-1].At), "\n")
				if w := term.Width(line); w >= width {
					t.Errorf("%d columns for %d: %q", w, width, line)
				}
				fmt.Fprintf(&b, "%3d %s|\n", width, line)
			}
			r.Close()
		}
		golden(t, "layout.txt", b.String())
	})
}

func TestLive_color(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80)
	for _, mode := range []term.ColorMode{term.ColorNever, term.ColorAuto} {
		s.raw.Reset()
		s.line = ""
		r := New(Config{Streams: s.streams(), Palette: s.streams().Palette(mode)})
		for _, ev := range recordings()["succeeded"] {
			r.Event(ev)
		}
		r.Close()
		if have, want := strings.Contains(s.raw.String(), "\x1b[3"), mode == term.ColorAuto; have != want {
			t.Errorf("mode %s: coloured %v, want %v", mode, have, want)
		}
		// No cursor hidden, no mode changed: nothing but colours and clearing.
		if rest := escapes.ReplaceAllString(s.raw.String(), ""); strings.Count(rest, "\x1b") != strings.Count(rest, "\x1b[J") {
			t.Errorf("another escape sequence in %q", rest)
		}
	}
}
