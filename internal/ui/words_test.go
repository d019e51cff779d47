package ui

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// What the library advises is told in words that name poll's flags.
func TestAdviceNamesFlags(t *testing.T) {
	t.Parallel()
	for code, want := range map[status.AdviceCode]string{
		status.AdviceTrust: "--cacert", status.AdviceFollow: "--follow none", status.AdviceFinalStates: `--until '.state=="..."'`,
		status.AdviceNext: "--next EXPR", status.AdviceEach: "--each EXPR", status.AdviceDone: "--until EXPR", status.AdviceKey: "--id EXPR",
	} {
		o := poll.Outcome{Ending: poll.Failed, Verdict: status.Verdict{Advice: status.Advice{Code: code, Path: ".state"}}}
		if have := strings.Join(grounds(&o, ""), "; "); !strings.Contains(have, want) {
			t.Errorf("%d: have %q, want %q in it", code, have, want)
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
