package poll_test

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

var streamSeeds = flag.Int("stream-seeds", 300, "how many servers TestStream_world makes up")

// A liveServer streams the states of an operation, and fails at first, in ways of which each connection has
// one. All of it comes from a seed.
type liveServer struct {
	seed    uint64
	start   time.Time
	phases  []time.Duration // when the states of an operation begin, but for the first
	states  []string
	kind    string // Content-Type
	faults  []string
	noise   bool // events that say "done" of something else
	latency time.Duration
}

// newLiveServer draws a server.
func newLiveServer(seed uint64) *liveServer {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &liveServer{seed: seed, start: time.Now(), states: []string{"queued"}, noise: r.IntN(2) == 0, latency: time.Duration(r.IntN(50)) * time.Millisecond}
	s.kind = []string{"text/event-stream", "application/x-ndjson", "application/json", "application/json-seq"}[r.IntN(4)]
	at := time.Duration(0)
	for _, state := range []string{"running", "running again", []string{"done", "failed"}[r.IntN(2)]}[r.IntN(3):] {
		at += time.Duration(1 + r.Int64N(int64(40*time.Second)))
		s.phases, s.states = append(s.phases, at), append(s.states, state)
	}
	for range r.IntN(6) {
		s.faults = append(s.faults, []string{"cut", "end", "mute", "503", "204", "hang"}[r.IntN(6)])
	}
	return s
}

// at returns the index of the state at a time.
func (s *liveServer) at(now time.Time) int {
	n, found := slices.BinarySearch(s.phases, now.Sub(s.start))
	if found {
		n++
	}
	return n
}

// message is what is sent of a state.
func (s *liveServer) message(state string, isNoise bool) string {
	document := fmt.Sprintf(`{"state":%q,"why":"}{ \"state\":\"done\""}`, state)
	if isNoise {
		document = `{"other":{"state":"done"}}`
	}
	switch {
	case s.kind == "text/event-stream" && isNoise:
		return "event: log\ndata: {\"state\":\"done\"}\n\n"
	case s.kind == "text/event-stream":
		return "event: status\r\ndata: " + strings.Replace(document, ",", ",\r\ndata:", 1) + "\r\n\r\n"
	case s.kind == "application/json-seq":
		return "\x1e" + document + "\n"
	}
	return document + "\n"
}

func (s *liveServer) handle(c streaming) {
	r := rand.New(rand.NewPCG(s.seed, uint64(c.n)+1))
	fault, left := "", 1<<30 // bytes until the fault
	if c.n <= len(s.faults) {
		fault, left = s.faults[c.n-1], r.IntN(300)
	}
	time.Sleep(s.latency)
	switch fault {
	case "503":
		c.w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "204":
		c.w.WriteHeader(http.StatusNoContent)
		return
	case "hang":
		c.hold()
		return
	}
	c.as(s.kind).say("")
	for sent := -1; ; {
		now := s.at(time.Now())
		text := ""
		if now != sent {
			text, sent = s.message(s.states[now], false), now
		}
		if s.noise && r.IntN(3) == 0 {
			text = s.message("", true) + text
		}
		for len(text) > 0 {
			n := min(1+r.IntN(20), len(text), left)
			if _, err := io.WriteString(c.w, text[:n]); err != nil {
				return
			}
			c.say("")
			if text, left = text[n:], left-n; left > 0 {
				continue
			}
			switch fault {
			case "cut":
				c.cut()
			case "mute":
				c.hold()
			}
			return
		}
		select {
		case <-time.After(time.Duration(1 + r.Int64N(int64(5*time.Second)))):
		case <-c.r.Context().Done():
			return
		}
	}
}

// Of servers that fail at first, none is taken for done before it has said so as a whole, and what all of
// them come to is seen.
func TestStream_world(t *testing.T) {
	t.Parallel()
	ended := map[string]int{}
	for seed := range uint64(*streamSeeds) {
		synctest.Test(t, func(t *testing.T) {
			s := newLiveServer(seed)
			condition := `.state == "done"`
			if s.kind == "text/event-stream" {
				condition = `$event == "status" and ` + condition
			}
			p := poll.Poller{
				Probe:   poll.HTTP{URL: "http://a.test/", Stream: true, Transport: serve(t, s.handle)},
				Rules:   conditions(t, condition, `!`+strings.Replace(condition, "done", "failed", 1)),
				Timeout: 10 * time.Minute, AttemptTimeout: 10 * time.Second, Rand: rand.New(rand.NewPCG(seed, 0)),
			}
			if seed%3 == 0 {
				p.SuccessThreshold.Times = 1 + int(seed%2)
			}
			o, _ := p.Run(t.Context())
			over, last := s.phases[len(s.phases)-1], s.states[len(s.states)-1]
			want := map[string]poll.Ending{"done": poll.Succeeded, "failed": poll.Failed}[last]
			late := o.Elapsed - over
			// Each fault takes a minute of silence and a wait at most, and a state that is not repeated a further connection.
			if most := time.Duration(len(s.faults)+1)*80*time.Second + time.Second; p.SuccessThreshold.Times < 2 && (o.Ending != want || late < 0 || late > most) {
				t.Errorf("seed %d (%s, %q): %s %s after it was %s: %s", seed, s.kind, s.faults, o.Ending, late, last, o.Reason)
			}
			if o.Ending == poll.Succeeded && (last != "done" || late < 0) {
				t.Errorf("seed %d (%s, %q): SUCCESS %s after it was %s", seed, s.kind, s.faults, late, last)
			}
			ended[string(o.Ending)]++
		})
	}
	t.Log(ended)
}
