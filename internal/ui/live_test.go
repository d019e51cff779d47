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
		ev.State.Heard, ev.State.Since = shift(ev.State.Heard), shift(ev.State.Since)
		if ev.Origin != nil {
			place := *ev.Origin
			place.ClosedUntil = shift(place.ClosedUntil)
			ev.Origin = &place
		}
		time.Sleep(time.Until(ev.At.Add(time.Duration(i) * 1700 * time.Nanosecond)))
		if before != nil {
			before(i)
		}
		r.Event(ev)
	}
}

// film shows events on a terminal and returns the display after each interval, and the lines that stay.
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

// The output of a command stands in whole lines above the display.
func TestLive_stderr(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		answer := httpAnswer(200, `{"progress":62}`)
		answer.RetryAfter = &status.RetryAfter{Wait: 4200 * time.Millisecond, Source: "Retry-After"}
		run := newRecording(jobURL, 2*time.Hour, 500).wait(time.Second, nil).
			attempt(verdict(status.Throttled, "", "HTTP 429, Retry-After asks for 4.2s"), answer).wait(4200*time.Millisecond, answer.RetryAfter)
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

// atEvent is the event before which a picture is taken of a group, about in its middle.
func atEvent(events []poll.Event) int { return len(events) * 2 / 3 }

func TestGroupLive_golden(t *testing.T) {
	for file, width := range map[string]int{"some-40": 40, "many-40": 40, "many-80": 80, "all-200": 200} {
		name, _, _ := strings.Cut(file, "-")
		events := groups()[name]
		synctest.Test(t, func(t *testing.T) {
			m := newTerminal(t, width, 30)
			r := New(Config{Streams: m.streams(), Palette: m.streams().Palette(term.ColorAuto),
				Until: []string{`.state=="done"`}, Targets: groupSize(events), Goal: allOf(groupSize(events)), Timeout: 10 * time.Second})
			picture := ""
			replay(r, events, func(n int) {
				if n == atEvent(events) {
					time.Sleep(redraw)
					synctest.Wait()
					picture = m.text()
				}
			})
			r.Close()
			if name == "some" { // the last words of the others are those of their lines
				picture += "== the end\n" + m.text()
			}
			golden(t, "many/"+file+"-live.txt", picture)
		})
	}
}

// A list has a row of its own, with a forecast. Its elements have none.
func TestGroupLive_list(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(t, 100, 30)
		r := New(Config{Streams: m.streams(), Targets: 2, Goal: "all elements of .jobs", Forecast: evenly{longest: 16 * time.Minute, age: 8 * time.Minute}})
		list := newRecording(jobURL, 0, 0).wait(time.Second, nil).attempt(notReady("HTTP 503"), httpAnswer(503, "busy")).wait(time.Second, nil).events
		element := list[2]
		element.N, element.Target, element.Verdict = 1, "41", notReady(queued[0])
		replay(r, append(list[:3:3], element, list[3]), nil)
		time.Sleep(redraw)
		synctest.Wait()
		golden(t, "many/list-100-live.txt", m.text())
		r.Close()
	})
}

// The display has no more rows than the terminal. No row is left over when the terminal gets
// narrower and wraps the rows, or wider, except while the display is drawn.
func TestGroupLive_resize(t *testing.T) {
	for _, size := range []int{4, 20, 25} {
		synctest.Test(t, func(t *testing.T) {
			m := newTerminal(t, 100, 50)
			events := manyJobs(size)
			resized := make(chan struct{})
			go func() {
				defer close(resized)
				time.Sleep(time.Microsecond)
				for _, width := range []int{60, 140, 41, 30, 18, 9, 3, 2, 80} {
					time.Sleep(time.Second)
					m.resize(width)
				}
			}()
			r := New(Config{Streams: m.streams(), Targets: size, Goal: allOf(size), Heartbeat: new(time.Duration(0))})
			replay(r, events[:len(events)-size], nil)
			<-resized
			time.Sleep(time.Second)
			synctest.Wait()
			if text := m.text(); strings.Count(text, "(all of ") != 1 {
				t.Errorf("the counts are not there once:\n%s", text)
			}
			r.Close()
			if text := m.text(); strings.ContainsAny(text, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏✓✗━") || strings.Contains(text, "(all of ") {
				t.Errorf("left over:\n%s", text)
			}
			r.Close()
		})
	}
}

// In the background poll does not write to the terminal, and does not erase the display.
func TestGroupLive_background(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(t, 100, 50)
		events := manyJobs(4)
		r := New(Config{Streams: m.streams(), Targets: 4, Goal: allOf(4)})
		half := len(events) / 2
		before := 0
		replay(r, events, func(n int) {
			if n == half {
				m.mu.Lock()
				m.background, before = true, m.writes
				m.mu.Unlock()
			}
		})
		if m.writes > before+1 { // the last words
			t.Errorf("%d writes in the background", m.writes-before)
		}
		r.Close()
	})
}

// On a terminal that stdout shares, values stand above the status lines, and other results are in the table only.
func TestGroupLive_sharedStdout(t *testing.T) {
	for name, out := range map[string]Output{"value": {PerTarget: true, Print: printed(`"a value"`)}, "none": {PerTarget: true}} {
		synctest.Test(t, func(t *testing.T) {
			m := newTerminal(t, 300, 50)
			s := m.streams()
			s.Out, s.OutIsTerminal = m, true
			r := New(Config{Streams: s, Targets: 3, Goal: allOf(3)})
			for _, ev := range groups()["some"] {
				if ev.Kind == poll.EventEnd {
					r.draw(time.Now())
					before := m.text()
					check(t, r.WriteTarget(ev.N, out.Evaluate(*ev.Outcome), 0))
					want := before
					if table := strings.Index(before, "\n  https:") + 1; name == "value" && ev.Outcome.Ending == poll.Succeeded {
						want = before[:table] + "a value\n" + before[table:]
					}
					if text := m.text(); text != want {
						t.Errorf("%s: after a result:\n%s\nwant:\n%s", name, text, want)
					}
				}
				r.Event(ev)
			}
			r.Close()
			if n := strings.Count(m.text(), "✗"); n != 1 {
				t.Errorf("the table is not there once:\n%s", m.text())
			}
		})
	}
}

func TestGroupLive_height(t *testing.T) {
	for _, size := range []int{3, 20, 25} {
		for height := 1; height < 30; height++ {
			synctest.Test(t, func(t *testing.T) {
				m := newTerminal(t, 100, height)
				r := New(Config{Streams: m.streams(), Targets: size, Goal: allOf(size)})
				for _, ev := range manyJobs(size)[:2*size] {
					r.Event(ev)
				}
				r.draw(time.Now())
				inTable := height-otherLines >= size && size <= mostShown
				if have := !strings.Contains(m.text(), " done  "); have != inTable {
					t.Errorf("height %d, %d targets: a table: %v, want %v:\n%s", height, size, have, inTable, m.text())
				}
				r.Close()
				if have := strings.Count(m.text(), "\n"); have != 1 {
					t.Errorf("height %d, %d targets: left over:\n%s", height, size, m.text())
				}
				r.Close()
			})
		}
	}
}
