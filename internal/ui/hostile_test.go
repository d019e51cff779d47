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
		"\xff\xfe\x00", "\u202e\u2066\u2028\u2029\ufeff\U000e0001::x", "##[add-mask]x\n##vso[x]", "##[x]\n#\n#[x]###[y]", "##\u202e[x]", "\t\t\r\r\n\v\f\u0085",
		"日本語 👩\u200d🚀 é", strings.Repeat("é\t", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		answer := exitAnswer(1, s, s)
		answer.Remarks, answer.Next = []string{s}, s
		answer.Hint = &status.Hint{Source: s}
		recording := newRecording(s, 0, 0)
		recording.attempt(status.Verdict{Status: status.NotReady, Rule: s, Reason: s, Notes: []string{s}}, answer)
		recording.wait(1, answer.Hint)
		events := recording.end(poll.Outcome{Ending: poll.TimedOut, Reason: s, Notes: []string{s}})
		have := show(events, Config{Face: Lines, Verbose: true, Until: []string{s}})
		if !utf8.ValidString(have) || !strings.HasSuffix(have, "\n") {
			t.Errorf("not whole lines of UTF-8: %q", have)
		}
		if i := strings.IndexFunc(have, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || hidden(r) }); i >= 0 {
			t.Errorf("a character that is not seen at %d of %q", i, have)
		}
		if strings.Contains(have, "##[") || strings.Contains(have, "##vso[") {
			t.Errorf("a command of a CI service in %q", have)
		}
		for line := range strings.Lines(have) {
			if !ownLine.MatchString(line) {
				t.Errorf("whose line is %q?", line)
			}
		}
	})
}

// hidden reports whether a character is not seen, though it may change what is. Joiners are parts of
// words, and prepended marks are seen.
func hidden(r rune) bool {
	isSeen := r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	return !isSeen && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
