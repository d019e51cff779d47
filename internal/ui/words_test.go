package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A wait can continue after each error response, except where credentials are missing.
func TestInsteadOfAnError(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{404: true, 409: true, 403: true, 501: true, 401: false, 407: false} {
		o := poll.Outcome{Ending: poll.Failed, Observation: httpAnswer(code, "")}
		if have := instead(&o); strings.Contains(have, fmt.Sprintf("--not-ready-if '$status==%d'", code)) != want {
			t.Errorf("%d: have %q", code, have)
		}
	}
}

// Long text is cut between characters, wherever the cut falls.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	for pad := range 4 {
		text := strings.Repeat("x", pad) + strings.Repeat("€", 4000) + "\n" + strings.Repeat("€", 4000) + "\nend\n"
		for _, fromEnd := range []bool{false, true} {
			have := ownLines(excerpt([]byte(text), 2, fromEnd))
			if strings.Contains(have, `\x`) || strings.Count(have, "\n") > 3 || !strings.Contains(have, "| ...\n") {
				t.Errorf("from the end: %v: have %q", fromEnd, have)
			}
		}
	}
	if have, want := ownLines(excerpt([]byte("a\nb\nc"), 2, false)), "| a\n| b\n| ...\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
	if have, want := ownLines(excerpt([]byte("a\nb\nc"), 2, true)), "| ...\n| b\n| c\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

// A target that is not done, in this wait or after it, has another color than one that has failed.
func TestRow_tone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		row  *Row
		want term.Tone
	}{
		{&Row{}, term.Pending},
		{&Row{status: status.NotReady}, term.Pending},
		{&Row{status: status.Throttled}, term.Slow},
		{&Row{ending: poll.TimedOut}, term.Pending},
		{&Row{status: status.Throttled, ending: poll.TimedOut}, term.Slow},
		{&Row{ending: poll.HintTooLong}, term.Slow},
		{&Row{status: status.Success, ending: poll.Succeeded}, term.Good},
		{&Row{ending: poll.CannotRun}, term.Bad},
		{&Row{status: status.Throttled, ending: poll.Failed}, term.Bad},
		{&Row{status: status.NotReady, ending: poll.AttemptsExhausted}, term.Pending},
		{&Row{status: status.NotReady, ending: poll.Cancelled}, term.Faint},
	} {
		if have := test.row.tone(); have != test.want {
			t.Errorf("%s, %s: have tone %q, want %q", test.row.status, test.row.ending, have, test.want)
		}
	}
}

// The common part of names ends at a slash, and something of each name is left.
func TestCommonPart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"deploy-eu-1", "deploy-eu-10"}, ""},
		{[]string{"https://a/jobs/", "https://a/jobs/1"}, "https://a/"},
		{[]string{"web", "web"}, ""},
		{[]string{"部署/一", "部署/二"}, "部署/"},
		{[]string{"部署一", "部署二"}, ""},
		{[]string{"a-1", ""}, ""},
	} {
		if have := test.names[0][:commonPart(test.names)]; have != test.want {
			t.Errorf("%q: have %q, want %q", test.names, have, test.want)
		}
	}
}
