package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// show shows the events in the given way and returns what stands on stderr.
func show(events []poll.Event, cfg Config) string {
	s, _, err := httpscript.Streams("")
	cfg.Streams = s
	r := New(cfg)
	for _, ev := range events {
		r.Event(ev)
	}
	r.Close()
	return err.String()
}

// Every recording is shown in lines, and every face has a recording more.
func TestFaces_golden(t *testing.T) {
	until := []string{`.state=="done"`}
	for file, cfg := range map[string]Config{
		"*/lines":        {Face: Lines, Until: until},
		"follow/verbose": {Face: Lines, Verbose: true},
		"failed/none":    {Face: None},
		"succeeded/json": {Face: JSON},
		"stream/json":    {Face: JSON},
	} {
		which, face, _ := strings.Cut(file, "/")
		for name, events := range recordings() {
			if which == name || which == "*" {
				checkLog(t, "one/"+name+"-"+face+".txt", show(events, cfg))
			}
		}
	}
	for file, cfg := range map[string]Config{
		"*/lines":   {Face: Lines, Until: until},
		"some/none": {Face: None},
	} {
		which, face, _ := strings.Cut(file, "/")
		for name, events := range groups() {
			if which == name || which == "*" {
				cfg.Targets, cfg.Goal, cfg.Timeout = groupSize(events), allOf(groupSize(events)), 10*time.Second
				checkLog(t, "many/"+name+"-"+face+".txt", show(events, cfg))
			}
		}
	}
}

// checkLog compares a log with testdata/name.
func checkLog(t *testing.T, name, have string) {
	t.Helper()
	if strings.ContainsFunc(have, func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("a control character in a log: %q", have)
	}
	golden(t, name, have)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A said line, and when it was said after the start of the bubble.
type said struct {
	at   time.Duration
	line string
}

// listen returns streams whose stderr keeps every line with its time.
func listen(have *[]said) *term.Streams {
	began := time.Now()
	s, _, _ := httpscript.Streams("")
	s.Err = writerFunc(func(p []byte) (int, error) {
		for line := range strings.Lines(string(p)) {
			*have = append(*have, said{time.Since(began), strings.TrimSuffix(line, "\n")})
		}
		return len(p), nil
	})
	return s
}

// send shows an event as the loop would: now.
func send(r *Reporter, began time.Time, ev poll.Event) {
	ev.Target, ev.At, ev.Elapsed = jobURL, time.Now(), time.Since(began)
	r.Event(ev)
}

// The heartbeat comes while nothing happens, grows, and ends with Close.
func TestLines_heartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var have []said
		r := New(Config{Streams: listen(&have), Face: Lines})
		began := time.Now()
		send(r, began, poll.Event{Kind: poll.EventStart, State: poll.State{Attempts: 1}, Deadline: began.Add(time.Hour)})
		time.Sleep(31 * time.Second)
		hint := &status.RetryAfter{Wait: 20 * time.Minute, Source: "Retry-After"}
		send(r, began, poll.Event{Kind: poll.EventAttempt, State: poll.State{Attempts: 1}, Verdict: notReady("exit 1"), Observation: &status.Observation{RetryAfter: hint}})
		send(r, began, poll.Event{Kind: poll.EventWait, Wait: 20 * time.Minute,
			State: poll.State{Attempts: 1, Due: time.Now().Add(20 * time.Minute), RetryAfter: hint}})
		time.Sleep(20 * time.Minute)
		r.Close()
		time.Sleep(time.Hour)
		send(r, began, poll.Event{Kind: poll.EventStart})

		var b strings.Builder
		for _, s := range have {
			fmt.Fprintf(&b, "%6s %s\n", s.at, s.line)
		}
		golden(t, "heartbeat.txt", b.String())
	})
}

func TestLines_twoHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var have []said
		r := New(Config{Streams: listen(&have), Face: Lines})
		began := time.Now()
		n := 0
		for time.Since(began) < 2*time.Hour {
			n++
			send(r, began, poll.Event{Kind: poll.EventWait, Wait: 10 * time.Second, State: poll.State{Attempts: n - 1, Due: time.Now().Add(10 * time.Second)}})
			time.Sleep(10 * time.Second)
			send(r, began, poll.Event{Kind: poll.EventStart, State: poll.State{Attempts: n}})
			time.Sleep(time.Second)
			send(r, began, poll.Event{Kind: poll.EventAttempt, Observation: new(status.Observation), State: poll.State{Attempts: n}, Took: time.Second,
				Verdict: notReady(fmt.Sprintf(".done is %d, want == 100", n))})
		}
		r.Close()
		isNote := func(s said) bool { return strings.Contains(s.line, "the reason changes often") }
		if len(have) >= 100 {
			t.Errorf("%d lines, want fewer than 100", len(have))
		}
		if before := slices.IndexFunc(have, isNote); before != 2+mostShown { // the opening, the first reason and its changes
			t.Errorf("the note is line %d, want %d", before, 2+mostShown)
		}
		for i := 1; i < len(have); i++ {
			if gap := have[i].at - have[i-1].at; gap > 5*time.Minute {
				t.Errorf("silent for %v before %q", gap, have[i].line)
			}
		}
		last := have[len(have)-1]
		latest := int(last.at / (11 * time.Second)) // an attempt ends every 11 s
		if want := fmt.Sprintf(".done is %d, ", latest); !strings.Contains(last.line, want) {
			t.Errorf("the heartbeat %q does not say the latest words, %q", last.line, want)
		}
	})
}

// A row says what holds back the next attempt of its target.
func TestShared_row(t *testing.T) {
	s, _, _ := httpscript.Streams("")
	s.ErrIsTerminal = true
	r := New(Config{Streams: s, Face: Live, Targets: 1, Goal: allOf(1)})
	defer r.Close()
	for _, ev := range together(poll.Summary{}, recordings()["shared"]) {
		if ev.Kind == poll.EventOrigin || ev.Kind == poll.EventGoal {
			continue
		}
		r.Event(ev)
		words := r.wordsOn(r.board.rows[0], 1, 80)
		if held := ev.HeldBy == "gate"; held != strings.HasPrefix(words, "HTTP 429, Retry-After asks for 2s; held until its origin opens") {
			t.Errorf("%s: %s", ev.Kind, words)
		}
	}
}

// An urgent note stands below the opening line, whenever the note comes. Programs read the note
// with the end.
func TestNotes_ofEachFace(t *testing.T) {
	words := "poll: waiting for " + jobURL + ", up to 10m\npoll: note: before\npoll: note: meanwhile \\x1b[31m\n"
	events := recordings()["threshold"]
	for face, want := range map[Face]string{Lines: words, Live: words, None: "", JSON: `"notes":["before","meanwhile \\x1b[31m"]`} {
		s, out, err := httpscript.Streams("")
		r := New(Config{Streams: s, Face: face})
		r.Note("before")
		r.Event(events[0])
		r.Note("meanwhile \x1b[31m")
		r.Event(events[len(events)-1])
		if face == JSON {
			if e := r.WriteResult(Output{JSON: true}.Evaluate(*events[len(events)-1].Outcome), 0); e != nil || !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s: %v", want, out, e)
			}
		}
		r.Note("too late")
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
		answer.Hints, answer.Next = status.Notes(s), s
		answer.RetryAfter = &status.RetryAfter{Source: s}
		recording := newRecording(s, 0, 0)
		recording.attempt(status.Verdict{Status: status.NotReady, Rule: s, Reason: s, Hints: status.Notes(s)}, answer)
		recording.wait(1, answer.RetryAfter)
		events := recording.end(poll.Outcome{Ending: poll.TimedOut, Reason: s, Hints: status.Notes(s)})
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

// hidden reports whether a character is not seen, though it may change visible characters. Joiners are parts of
// words, and prepended marks are seen.
func hidden(r rune) bool {
	isSeen := r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	return !isSeen && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
