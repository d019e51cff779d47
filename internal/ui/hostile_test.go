package ui

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// ownLine is how a line in a log may begin.
var ownLine = regexp.MustCompile(`^(poll: |\| | *[0-9hms.]+s  (#[0-9]+|-) )`)

// Whatever an answer holds, a log holds whole lines of poll's own or marked as
// not, and nothing that a terminal or a CI service obeys.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "x", "\n", "a\nb\r\n", "::error::x\n  ::stop-commands::t", "\x1b[2J\x1b]0;t\a\r",
		"\xff\xfe\x00", "\u202e\u2028::x", "##[add-mask]x\n##vso[x]", strings.Repeat("é\t", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		answer := exitAnswer(1, s, s)
		answer.Remarks, answer.Following.Next = []string{s}, s
		answer.Hint = &status.Hint{Source: s}
		recording := newRecording(s, 0, 0)
		recording.attempt(status.Verdict{Status: status.NotReady, Rule: s, Reason: s, Notes: []string{s}}, answer)
		recording.wait(1, answer.Hint)
		events := recording.end(poll.Outcome{Ending: poll.TimedOut, Reason: s, Notes: []string{s}})
		have := show(events, Config{Face: Lines, Verbose: true, Until: []string{s}})
		if !utf8.ValidString(have) || !strings.HasSuffix(have, "\n") {
			t.Errorf("not whole lines of UTF-8: %q", have)
		}
		if i := strings.IndexFunc(have, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("a control character at %d of %q", i, have)
		}
		for line := range strings.Lines(have) {
			if !ownLine.MatchString(line) {
				t.Errorf("whose line is %q?", line)
			}
		}
	})
}
