package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// atEvent is the event before which a picture is taken of a group, about in its middle.
func atEvent(events []poll.Event) int { return len(events) * 2 / 3 }

func TestGroupLive_golden(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// What is drawn has no more rows than the terminal, and nothing of it is left over when
// that gets narrower and wraps them, or wider, but not within a drawing.
func TestGroupLive_resize(t *testing.T) {
	t.Parallel()
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

// In the background the terminal is left alone, and what was drawn there is not erased.
func TestGroupLive_background(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	for name, out := range map[string]Output{"value": {PerTarget: true, Print: printed("a value", `1`)}, "none": {PerTarget: true}} {
		synctest.Test(t, func(t *testing.T) {
			m := newTerminal(t, 300, 50)
			s := m.streams()
			s.Out, s.OutIsTerminal = m, true
			r := New(Config{Streams: s, Targets: 3, Goal: allOf(3)})
			for _, ev := range groups()["some"] {
				if ev.Kind == poll.EventEnd {
					r.draw(time.Now())
					before := m.text()
					if err := r.WriteTarget(ev.N, out.Evaluate(*ev.Outcome), 0); err != nil {
						t.Fatal(err)
					}
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
	t.Parallel()
	for _, size := range []int{3, 20, 25} {
		for height := 1; height < 30; height++ {
			synctest.Test(t, func(t *testing.T) {
				m := newTerminal(t, 100, height)
				r := New(Config{Streams: m.streams(), Targets: size, Goal: allOf(size)})
				for _, ev := range manyJobs(size)[:2*size] {
					r.Event(ev)
				}
				r.draw(time.Now())
				inTable := height-otherLines >= size && size <= mostTold
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
