package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// Programs are told how many attempts others made, and how long was really waited.
func TestShared_outcome(t *testing.T) {
	t.Parallel()
	out := outcome(t, recordings()["shared"], Config{Shared: true}, Output{JSON: true})
	var have struct {
		Attempts, Asked, Taken, Alone int
		Timeline                      []Moment
	}
	if err := json.Unmarshal([]byte(out), &have); err != nil {
		t.Fatal(err)
	}
	if have.Attempts != 4 || have.Asked != 1 || have.Taken != 2 || have.Alone != 1 {
		t.Errorf("have %d attempts: %d asked, %d taken, %d alone", have.Attempts, have.Asked, have.Taken, have.Alone)
	}
	for i, want := range []Moment{{Wait: 0.1, Took: 0.05}, {Wait: 2.2, Took: 0.05}, {Wait: 5.5, Taken: true}, {Wait: 0.9, Taken: true}} {
		if m := have.Timeline[i]; m.Wait != want.Wait || m.Took != want.Took || m.Taken != want.Taken {
			t.Errorf("attempt %d: have %+v, want %+v", i+1, m, want)
		}
	}
}

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

// What is to be said at once stands below the opening line, whenever it is said first.
func TestSay(t *testing.T) {
	t.Parallel()
	for face, want := range map[Face]string{
		Lines: "poll: waiting for " + jobURL + ", up to 10m\npoll: note: before\npoll: note: meanwhile \\x1b[31m\n",
		Live:  "poll: waiting for " + jobURL + ", up to 10m\npoll: note: before\npoll: note: meanwhile \\x1b[31m\n",
		None:  "",
	} {
		s, _, err := term.Buffers("")
		r := New(Config{Streams: s, Face: face})
		r.Say("before")
		r.Event(recordings()["succeeded"][0])
		r.Say("meanwhile \x1b[31m")
		r.Close()
		r.Say("after")
		have := escapes.ReplaceAllString(err.String(), "")
		for said := range strings.Lines(want) {
			if strings.Count(have, said) != 1 {
				t.Errorf("%s: no %q, once, in %q", face, said, have)
			}
		}
		if want == "" && have != "" || strings.Contains(have, "after") {
			t.Errorf("%s: have %q", face, have)
		}
	}
}

// Programs read what is said with the end.
func TestSay_JSON(t *testing.T) {
	t.Parallel()
	s, out, err := term.Buffers("")
	r := New(Config{Streams: s, Face: JSON})
	events := recordings()["threshold"]
	for i, ev := range events {
		if i == 1 {
			r.Say("alone")
		}
		r.Event(ev)
	}
	r.Close()
	if have := strings.Count(err.String(), "alone"); have != 1 || !strings.Contains(err.String(), `"notes":["alone"]`) {
		t.Errorf("have it %d times:\n%s", have, err)
	}
	if e := r.WriteResult(Output{JSON: true}.Settle(*events[len(events)-1].Outcome), 0); e != nil {
		t.Fatal(e)
	}
	if !strings.Contains(out.String(), `"notes":["alone"]`) {
		t.Errorf("have %s", out)
	}
}
