package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// What the library advises is told in words that name poll's flags, to people
// and to programs.
func TestAdviceNamesFlags(t *testing.T) {
	t.Parallel()
	for code, want := range map[status.AdviceCode]string{
		status.AdviceTrust:       "--cacert",
		status.AdviceFollow:      "--follow none",
		status.AdviceFinalStates: `--until '.state=="..."'`,
	} {
		v := status.Verdict{Status: status.Error, Reason: "so it is", Advice: status.Advice{Code: code, Path: ".state"}}
		o := poll.Outcome{Ending: poll.Failed, Status: status.Error, Reason: v.Reason, Verdict: v, Observation: httpAnswer(200, "{}")}
		s, out, talk := term.Buffers("")
		r := New(Config{Streams: s, Face: Lines})
		r.Event(poll.Event{Kind: poll.EventEnd, Outcome: &o})
		if !strings.Contains(talk.String(), want) {
			t.Errorf("%d: the end is %q, want %q in it", code, talk, want)
		}
		if err := r.WriteResult(Output{JSON: true}.Settle(o), 1); err != nil {
			t.Fatal(err)
		}
		var d Document
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(d.Notes, "\n"), want) {
			t.Errorf("%d: the notes are %q, want %q in them", code, d.Notes, want)
		}
	}
}

// A start whose answer names what credentials are not sent to did not fail for
// good: what allows it is offered.
func TestInsteadOfAnUntrustedLead(t *testing.T) {
	t.Parallel()
	for _, untrusted := range []bool{false, true} {
		o := poll.Outcome{Ending: poll.Failed, Observation: &status.Observation{Code: new(202), Following: status.Following{Start: true, Untrusted: untrusted}}}
		if have := instead(&o); strings.Contains(have, "--location-trusted") != untrusted {
			t.Errorf("untrusted: %v: have %q", untrusted, have)
		}
	}
}

// Long text is cut between characters, wherever the cut falls.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	for pad := range 4 {
		text := strings.Repeat("x", pad) + strings.Repeat("€", 4000) + "\n" + strings.Repeat("€", 4000) + "\nend\n"
		for _, fromEnd := range []bool{false, true} {
			have := excerpt([]byte(text), 2, fromEnd)
			if strings.Contains(have, `\x`) || strings.Count(have, "\n") > 3 || !strings.Contains(have, "| ...\n") {
				t.Errorf("from the end: %v: have %q", fromEnd, have)
			}
		}
	}
	if have, want := excerpt([]byte("a\nb\nc"), 2, false), "| a\n| b\n| ...\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
	if have, want := excerpt([]byte("a\nb\nc"), 2, true), "| ...\n| b\n| c\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}
