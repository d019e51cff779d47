package ui

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// A row says what holds back the next attempt of its target.
func TestShared_row(t *testing.T) {
	t.Parallel()
	s, _, _ := term.Buffers("")
	s.ErrIsTerminal = true
	r := New(Config{Streams: s, Face: Live, Targets: 1, Goal: allOf(1)})
	defer r.Close()
	for _, ev := range together(poll.Summary{}, recordings()["shared"]) {
		if ev.Kind == poll.EventPlace || ev.Kind == poll.EventGoal {
			continue
		}
		r.Event(ev)
		words := r.wordsOn(r.board.rows[0], ev.At, 1, 80)
		if held := ev.HeldBy == poll.HeldByGate; held != strings.HasPrefix(words, "HTTP 429, Retry-After asks for 2s; held until its origin opens") {
			t.Errorf("%s: %s", ev.Kind, words)
		}
	}
}

// What is to be said at once stands below the opening line, whenever it is said first. Programs
// read it with the end.
func TestSay(t *testing.T) {
	t.Parallel()
	words := "poll: waiting for " + jobURL + ", up to 10m\npoll: note: before\npoll: note: meanwhile \\x1b[31m\n"
	events := recordings()["threshold"]
	for face, want := range map[Face]string{Lines: words, Live: words, None: "", JSON: `"notes":["before","meanwhile \\x1b[31m"]`} {
		s, out, err := term.Buffers("")
		r := New(Config{Streams: s, Face: face})
		r.Say("before")
		r.Event(events[0])
		r.Say("meanwhile \x1b[31m")
		r.Event(events[len(events)-1])
		if face == JSON {
			if e := r.WriteResult(Output{JSON: true}.Evaluate(*events[len(events)-1].Outcome), 0); e != nil || !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s: %v", want, out, e)
			}
		}
		r.Say("too late")
		r.Close()
		have := escapes.ReplaceAllString(err.String(), "")
		if strings.Count(have, "meanwhile") != min(1, len(want)) || strings.Contains(have, "too late") {
			t.Errorf("%s: have %q", face, have)
		}
		for said := range strings.Lines(want) {
			if strings.Count(have, said) != 1 {
				t.Errorf("%s: no %q, once, in %q", face, said, have)
			}
		}
	}
}
