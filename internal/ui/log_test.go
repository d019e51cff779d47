package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// show shows the events in the given way and returns what stands on stderr.
func show(events []poll.Event, cfg Config) string {
	s, _, err := term.Buffers("")
	cfg.Streams = s
	r := New(cfg)
	for _, ev := range events {
		r.Event(ev)
	}
	r.Close()
	return err.String()
}

// Every recording is told in lines, and every face has a recording more.
func TestFaces_golden(t *testing.T) {
	t.Parallel()
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
	s, _, _ := term.Buffers("")
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
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have []said
		r := New(Config{Streams: listen(&have), Face: Lines})
		began := time.Now()
		send(r, began, poll.Event{Kind: poll.EventStart, State: poll.State{Attempts: 1}, Deadline: began.Add(time.Hour)})
		time.Sleep(31 * time.Second)
		hint := &status.Hint{Wait: 20 * time.Minute, Source: "Retry-After"}
		send(r, began, poll.Event{Kind: poll.EventAttempt, State: poll.State{Attempts: 1}, Verdict: notReady("exit 1"), Observation: &status.Observation{Hint: hint}})
		send(r, began, poll.Event{Kind: poll.EventWait, Wait: 20 * time.Minute,
			State: poll.State{Attempts: 1, Due: time.Now().Add(20 * time.Minute), Hint: hint}})
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
	t.Parallel()
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
			send(r, began, poll.Event{Kind: poll.EventAttempt, State: poll.State{Attempts: n}, Took: time.Second,
				Verdict: notReady(fmt.Sprintf(".done is %d, want == 100", n))})
		}
		r.Close()
		isNote := func(s said) bool { return strings.Contains(s.line, "the reason changes often") }
		if len(have) >= 100 {
			t.Errorf("%d lines, want fewer than 100", len(have))
		}
		if before := slices.IndexFunc(have, isNote); before != 2+mostTold { // the opening, the first reason and its changes
			t.Errorf("the note is line %d, want %d", before, 2+mostTold)
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
