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
		words := r.wordsOn(r.board.rows[0], ev.At)
		if held := ev.HeldBy == poll.HeldByGate; held != strings.HasPrefix(words, "held until its place opens; HTTP 429") {
			t.Errorf("%s: %s", ev.Kind, words)
		}
	}
}

func TestShared_summary(t *testing.T) {
	t.Parallel()
	events := together(poll.Summary{Ending: poll.Succeeded, Need: 1, Taken: 2, Alone: 1}, recordings()["shared"])
	goal := func(cfg Config) string {
		cfg.Targets, cfg.Goal = 1, allOf(1)
		lines := strings.Split(strings.TrimSpace(show(events, cfg)), "\n")
		return lines[len(lines)-1]
	}
	if have, want := goal(Config{Face: JSON, Shared: true}), `"attempts":4,"asked":1,"taken":2,"alone":1,`; !strings.Contains(have, want) {
		t.Errorf("no %s in %s", want, have)
	} else if err := validate(readSchema(t, "event.schema.json"), have); err != nil {
		t.Error(err)
	}
	if have := goal(Config{Face: JSON}); strings.Contains(have, "asked") {
		t.Errorf("nothing was shared: %s", have)
	}
	if have, want := goal(Config{Face: Lines}), " after 4 attempts (1 asked, 2 taken, 1 alone) in "; !strings.Contains(have, want) {
		t.Errorf("no %q in %s", want, have)
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
		if face == JSON {
			r.Event(events[len(events)-1])
			if e := r.WriteResult(Output{JSON: true}.Settle(*events[len(events)-1].Outcome), 0); e != nil || !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s: %v", want, out, e)
			}
		}
		r.Close()
		r.Say("after")
		have := escapes.ReplaceAllString(err.String(), "")
		if strings.Count(have, "meanwhile") != min(1, len(want)) || strings.Contains(have, "after") {
			t.Errorf("%s: have %q", face, have)
		}
		for said := range strings.Lines(want) {
			if strings.Count(have, said) != 1 {
				t.Errorf("%s: no %q, once, in %q", face, said, have)
			}
		}
	}
}
