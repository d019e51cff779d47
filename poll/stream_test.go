package poll_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// pipes is a listener whose connections are pipes, so that its server works in a bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A streaming is a connection to a server that sends the messages of a test.
type streaming struct {
	t *testing.T
	n int // from 1
	w http.ResponseWriter
	r *http.Request
}

// as sets the Content-Type.
func (s streaming) as(kind string) streaming {
	s.w.Header().Set("Content-Type", kind)
	return s
}

func (s streaming) sse() streaming { return s.as("text/event-stream") }

// say sends each of the texts at once. A text of the form "~2s" is a pause.
func (s streaming) say(texts ...string) streaming {
	for _, text := range texts {
		if pause, ok := strings.CutPrefix(text, "~"); ok {
			d, _ := time.ParseDuration(pause)
			select {
			case <-time.After(d):
			case <-s.r.Context().Done():
				return s
			}
			continue
		}
		io.WriteString(s.w, text)
		s.w.(http.Flusher).Flush()
	}
	return s
}

// hold sends nothing until the client closes the connection.
func (s streaming) hold() { <-s.r.Context().Done() }

// cut breaks the connection.
func (s streaming) cut() { panic(http.ErrAbortHandler) }

// serve starts a server in a bubble.
func serve(t *testing.T, handle func(s streaming)) *http.Transport {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	var mu sync.Mutex
	n := 0
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		s := streaming{t, n, w, r}
		mu.Unlock()
		handle(s)
	})}
	go server.Serve(l)
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		synctest.Wait()
	})
	return transport
}

// conditions returns rules with these conditions: for ERROR with the prefix "!", and otherwise for SUCCESS.
func conditions(t *testing.T, texts ...string) (rules status.Rules) {
	t.Helper()
	for _, condition := range texts {
		s := status.Success
		if text, ok := strings.CutPrefix(condition, "!"); ok {
			s, condition = status.Error, text
		}
		if text, ok := strings.CutPrefix(condition, "?"); ok {
			s, condition = status.NotReady, text
		}
		rules.Own = append(rules.Own, rule(t, s, condition))
	}
	return rules
}

const (
	pending = `data: {"state":"pending"}` + "\n\n"
	done    = `data: {"state":"done"}` + "\n\n"
	isDone  = `.state == "done"`

	sse    = "header Content-Type text/event-stream"
	ndjson = "header Content-Type application/x-ndjson"
	inJSON = "header Content-Type application/json"
	hold   = "hold"
	cut    = "cut"
)

// play takes the steps of a turn: a header, a status, hold, cut, or a text to send.
func (s streaming) play(turn []string) {
	for _, step := range turn {
		switch word, rest, _ := strings.Cut(step, " "); word {
		case "header":
			name, value, _ := strings.Cut(rest, " ")
			s.w.Header().Set(name, value)
		case "status":
			code, _ := strconv.Atoi(rest)
			s.w.WriteHeader(code)
		case hold:
			s.hold()
		case cut:
			s.cut()
		default:
			s.say(step)
		}
	}
}

// hostile are streams with the expected end of the wait: its time, ending and reason, and the numbers of
// connections and messages.
var hostile = []struct {
	name   string
	turns  [][]string        // of the connections; the last of them is repeated
	handle func(s streaming) // in place of turns
	until  string            // isDone if ""
	change func(*poll.Poller, *poll.HTTP)
	want   string
}{
	{name: "an event", turns: [][]string{{sse, pending, "~1s", done, hold}},
		want: `1.1s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "cut before the empty line", turns: [][]string{{sse, pending, `data: {"state":"done"}` + "\n"}, {sse, pending, hold}}, want: `1m0s timed out, 3 attempts, 3 messages: timed out after 1m; last: .state is "pending", want == "done"`},
	{name: "cut in an event", turns: [][]string{
		{sse, pending, `data: {"state":"done"}`, cut}, {sse, pending, `data: {"state":"done"}`, cut}, {sse, "data: {\"state\":\"failed\"}\n\n", hold},
	}, until: "failed", want: `700ms failed, 3 attempts, 3 messages: .state is "failed"`},
	{name: "the end is no verdict", turns: [][]string{{sse, pending}, {sse, pending}, {sse, done, hold}}, want: `700ms succeeded, 3 attempts, 3 messages: .state is "done"`},
	{name: "an end at once is asked less and less often", turns: [][]string{{sse}},
		want: `59.98s timed out, 11 attempts, 0 messages: timed out after 1m; last: the stream ended after 0 messages`},
	{name: "an end is no error", turns: [][]string{{sse, pending}}, until: `$error != null or $status == 503`,
		change: func(p *poll.Poller, _ *poll.HTTP) { p.MaxAttempts = 3 },
		want:   `700ms attempts exhausted, 3 attempts, 3 messages: attempts made: 3 of 3; last: $error is null, want != null`},
	{name: "comments", turns: [][]string{slices.Concat([]string{sse}, slices.Repeat([]string{": ping\n", "~50s"}, 15), []string{done, hold})}, change: func(p *poll.Poller, _ *poll.HTTP) { p.Timeout = time.Hour },
		want: `12m30.1s succeeded, 1 attempt, 1 message: .state is "done"`},
	{name: "mute", turns: [][]string{{sse, "", hold}, {sse, "", done, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) { p.Timeout = time.Hour },
		want: `1m0.3s succeeded, 2 attempts, 1 message: .state is "done"`},
	{name: "mute before the deadline", turns: [][]string{{sse, pending, hold}, {sse, done, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) { p.Timeout = 30 * time.Second },
		want: `28.1s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "time for a first message is kept before the deadline", turns: [][]string{{sse, "~5s", pending, "~3s", pending}, {sse, "~5s", done, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) {
		p.Immediate, p.Schedule, p.Timeout = true, backoff.Fixed(time.Minute), 30*time.Second
	},
		want: `25s succeeded, 2 attempts, 3 messages: .state is "done"`},
	{name: "Last-Event-ID", handle: func(s streaming) {
		switch id := s.r.Header["Last-Event-Id"]; {
		case s.n == 1 && id == nil:
			s.sse().say("id: 7\n"+pending, "id: 8\ndata: cut\n").cut()
		case s.n == 2 && slices.Equal(id, []string{"7"}): // an empty one keeps it
			s.sse()
		case s.n == 3 && slices.Equal(id, []string{"7"}):
			s.sse().say(": a comment\nid: 9\n\n", "id: a\x00b\n\n")
		case s.n == 4 && slices.Equal(id, []string{"9"}):
			s.sse().say("id\n" + pending)
		case s.n == 5 && id == nil:
			s.sse().say(done).hold()
		default:
			s.t.Errorf("connection %d with Last-Event-ID %q", s.n, id)
		}
	}, want: `3.1s succeeded, 5 attempts, 3 messages: .state is "done"`},
	{name: "retry", turns: [][]string{{sse, "retry: 4000\n\nretry: 1x\n\n" + pending}, {sse, done, hold}}, want: `4.1s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "retry, after a 429 and beyond the deadline", turns: [][]string{{"status 429"}, {sse, "retry: 3600000\n\n"}}, want: "59.98s timed out, 4 attempts, 0 messages: timed out after 1m; last: HTTP 429 Too Many Requests"},
	{name: "retry, refused meanwhile", handle: func(s streaming) {
		switch s.n {
		case 1:
			s.sse().say("retry: 4000\n\n" + pending)
		case 2:
			conn, _, _ := s.w.(http.Hijacker).Hijack()
			io.WriteString(conn, "no HTTP\r\n\r\n")
			conn.Close()
		default:
			s.sse().say(done).hold()
		}
	}, want: `8.1s succeeded, 3 attempts, 2 messages: .state is "done"`},
	{name: "Retry-After", turns: [][]string{{"header Retry-After 5", sse, pending}, {sse, done, hold}}, want: `5.1s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "the name of an event", turns: [][]string{{sse, "event: log\n" + done, "~1s", done, "~1s", "event:status\n" + done, hold}}, until: `$event == "status" and .state == "done"`, want: `2.1s succeeded, 1 attempt, 3 messages: $event is "status"; .state is "done"`},
	{name: "an event without a name", turns: [][]string{{sse, "event: x\n\n", done, hold}},
		until: `$event == "message"`, want: `100ms succeeded, 1 attempt, 1 message: $event is "message"`},
	{name: "[DONE]", turns: [][]string{{sse, "data: [DONE]\n\n"}, {sse, done, hold}}, want: `300ms succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "NDJSON", turns: [][]string{{ndjson, `{"state":"pending"}` + "\n", "\n", `{"state":`, "~1s", `"done"}`, hold}}, want: `1.1s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "NDJSON cut in a line", turns: [][]string{
		{ndjson, `{"state":"pending"}` + "\n", `{"a":{"state":"done"}`}, {ndjson, "~1s", `{"a":` + "\n", `{"state":"done"}` + "\n", hold},
	}, want: `1.3s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "JSON text sequence", turns: [][]string{
		{"header Content-Type application/json-seq", "\x1e{\"state\":\"pen", "\x1e{\n\"state\":\"pending\"}\n", "\x1e{\"state\":\"done\"}\n", hold},
	}, want: `100ms succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "watch", turns: [][]string{
		{inJSON, `{"type":"ADDED","object":{"state":"pending"}}` + "\n", "~1s", `{"type":"MODIFIED","object":{"state":"done"}}` + "\n", hold},
	}, until: `.object.state == "done"`, want: `1.1s succeeded, 1 attempt, 2 messages: .object.state is "done"`},
	{name: "410 as a message", turns: [][]string{
		{inJSON, `{"type":"ERROR","object":{"kind":"Status","code":410}}` + "\n"}, {inJSON, `{"type":"ADDED","object":{"state":"done"}}` + "\n", hold},
	}, until: `.object.state == "done"`, want: `300ms succeeded, 2 attempts, 2 messages: .object.state is "done"`},
	{name: "an answer", handle: func(s streaming) {
		state := "pending"
		if s.n == 3 {
			state = "done"
		}
		body := `{"state":"` + state + `"}`
		s.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		s.as("application/json").say(body)
	}, want: `700ms succeeded, 3 attempts, 0 messages: .state is "done"`},
	{name: "an answer of no length", turns: [][]string{{inJSON, `{"state":"pending"}`}}, want: `59.98s timed out, 11 attempts, 11 messages: timed out after 1m; last: .state is "pending", want == "done"`},
	{name: "429 and 503", turns: [][]string{{"header Retry-After 3", "status 429"}, {"status 503"}, {sse, done, hold}}, want: `3.5s succeeded, 3 attempts, 1 message: .state is "done"`},
	{name: "404", turns: [][]string{{sse, "status 404", done}},
		want: `100ms failed, 1 attempt, 0 messages: HTTP 404 Not Found`},
	{name: "204", turns: [][]string{{sse, "status 204"}, {sse, done, hold}}, want: `300ms succeeded, 2 attempts, 1 message: .state is "done"`},
	{name: "gzip", handle: func(s streaming) {
		s.sse().w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(s.w)
		for _, text := range []string{pending, done} {
			io.WriteString(z, text)
			z.Flush()
			s.say("", "~1s")
		}
		s.hold()
	}, want: `1.1s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "redirect", handle: func(s streaming) {
		if s.r.URL.Path != "/stream" {
			http.Redirect(s.w, s.r, "/stream", http.StatusTemporaryRedirect)
			return
		}
		s.sse().say(done).hold()
	}, want: `100ms succeeded, 1 attempt, 1 message: .state is "done", after a redirect to /stream`},
	{name: "the header comes late", turns: [][]string{{hold}, {sse, pending, "~40s", done, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) { p.AttemptTimeout = 5 * time.Second },
		want: `45.3s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "POST", handle: func(s streaming) {
		if body, _ := io.ReadAll(s.r.Body); s.r.Method != "POST" || string(body) != "x" {
			s.t.Errorf("%s with %q", s.r.Method, body)
		}
		s.sse().say(pending, "~90s", done).hold()
	}, change: func(p *poll.Poller, h *poll.HTTP) { h.Body, p.Timeout = []byte("x"), 2*time.Minute },
		want: `1m30s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "POST, cut", turns: [][]string{{sse, pending, "~1s", cut}},
		change: func(_ *poll.Poller, h *poll.HTTP) { h.Body = []byte("x") },
		want:   `1s failed, 1 attempt, 1 message: the operation may have started, but the response was lost: the stream was cut after 1 message`},
	{name: "POST, then its URL", turns: [][]string{{"header Location /jobs/7", inJSON, "status 202", `{"state":"started"}`}, {sse, pending, "~1s", done, hold}}, change: func(_ *poll.Poller, h *poll.HTTP) { h.Body, h.Follow = []byte("x"), "auto" },
		want: `1.1s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "messages in a row", turns: [][]string{{sse, done, pending, done, "~1s", done, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.Times = 2 },
		want: `1.1s succeeded, 1 attempt, 4 messages: .state is "done"`},
	{name: "messages in a row over an end", turns: [][]string{{sse, done}},
		change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.Times = 3 },
		want:   `400ms succeeded, 3 attempts, 3 messages: .state is "done"`},
	{name: "SUCCESS for a time", turns: [][]string{{sse, done, "~3s", done, "~3s", done, hold}},
		change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.For = 5 * time.Second },
		want:   `5.1s succeeded, 2 attempts, 3 messages: .state is "done"`},
	{name: "SUCCESS for a time, with IDs", handle: func(s streaming) {
		if s.r.Header.Get("Last-Event-ID") == "" {
			s.sse().say("id: 7\n" + done)
		}
		s.hold()
	}, change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.For = 5 * time.Second },
		want: `5.1s succeeded, 2 attempts, 2 messages: .state is "done"`},
	{name: "SUCCESS twice, a server that is down between, and nothing newer", handle: func(s streaming) {
		if s.n == 2 {
			s.w.WriteHeader(http.StatusServiceUnavailable)
		} else if s.r.Header.Get("Last-Event-ID") == "" {
			s.sse().say("id: 7\n" + done)
		}
	}, change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.Times = 2 },
		want: `700ms succeeded, 4 attempts, 3 messages: .state is "done"`},
	{name: "quiet after a message that came in parts", turns: [][]string{{sse, "id: 7\n", "~1s", "event: x\n", "~1s", pending, "~40s", done, hold}}, want: `42.1s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "SUCCESS for a time, of what is sent once", turns: [][]string{{sse, done, "~6s", done, hold}}, change: func(p *poll.Poller, h *poll.HTTP) { h.Body, p.SuccessThreshold.For = []byte("x"), 5*time.Second },
		want: `6s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "SUCCESS for too short a time", turns: [][]string{{sse, done, "~3s", pending, "~3s", done, hold}, {sse, pending, hold}}, change: func(p *poll.Poller, _ *poll.HTTP) { p.SuccessThreshold.For, p.Timeout = 5*time.Second, 12*time.Second },
		want: `12s timed out, 2 attempts, 4 messages: timed out after 12s; last: .state is "pending", want == "done"`},
	{name: "a part of a stream", turns: [][]string{{sse, "status 206", done, "~1s"}, {sse, done, "~1s"}}, want: `1.3s succeeded, 2 attempts, 1 message: .state is "done"`},
	{name: "a long event", handle: func(s streaming) {
		s.sse().say(`data: {"state":"done","x":"`+strings.Repeat("x", 100)+"\"}\n\n", "~1s", `data: {"state":"done","x":"`+strings.Repeat("x", 20)+"\"}\n\n").hold()
	}, change: func(_ *poll.Poller, h *poll.HTTP) { h.MaxBody = 64 },
		want: `1.1s succeeded, 1 attempt, 2 messages: .state is "done"`},
	{name: "an event is found beyond what is kept", handle: func(s streaming) {
		s.sse().say("data: "+strings.Repeat("x", 100)+"\n\n", "~1s", "data: y\n\n").hold()
	}, until: `not ($body contains "z")`, change: func(_ *poll.Poller, h *poll.HTTP) { h.MaxBody = 64 },
		want: `1.1s succeeded, 1 attempt, 2 messages: $body is "y"`},
}

// listen runs p in a bubble, and returns a line that describes the outcome.
func listen(t *testing.T, p poll.Poller) (said string) {
	t.Helper()
	p.Rand = rand.New(still{})
	outcome, _ := p.Run(t.Context())
	s := outcome.State
	return fmt.Sprintf("%s %s, %s, %s: %s", outcome.Elapsed.Round(10*time.Millisecond), outcome.Ending,
		plural(s.Attempts, "attempt"), plural(s.Messages, "message"), outcome.Reason)
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}

func TestStream_hostile(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				if test.handle == nil {
					test.handle = func(s streaming) { s.play(test.turns[min(s.n, len(test.turns))-1]) }
				}
				h := poll.HTTP{URL: "http://a.test/x", Stream: true, Transport: serve(t, test.handle)}
				p := poll.Poller{Rules: conditions(t, isDone), Timeout: time.Minute}
				if test.until == "failed" {
					p.Rules = conditions(t, isDone, `!.state == "failed"`)
				} else if test.until != "" {
					p.Rules = conditions(t, test.until)
				}
				if test.change != nil {
					test.change(&p, &h)
				}
				p.Probe = h
				if have := listen(t, p); have != test.want {
					t.Errorf("have %s\nwant %s", have, test.want)
				}
			})
		})
	}
}

// If 50 streams are cut at once, the next streams start within twice the wait, and not earlier than the wait.
func TestStream_spread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var again []time.Duration
		start := time.Now()
		cut := 10 * time.Second
		transport := serve(t, func(s streaming) {
			if since := time.Since(start); since < cut {
				s.sse().say("retry: 2000\n\n", pending)
				time.Sleep(time.Until(start.Add(cut)))
				return
			} else {
				mu.Lock()
				again = append(again, since-cut)
				mu.Unlock()
			}
			s.sse().say(done).hold()
		})
		var targets []poll.Poller
		for i := range 50 {
			targets = append(targets, poll.Poller{Probe: poll.HTTP{URL: fmt.Sprint("http://a.test/", i), Stream: true, Transport: transport}, Rules: conditions(t, isDone)})
		}
		g := poll.Group{Timeout: time.Minute, Parallel: 4, ParallelOrigin: func(string) int { return 2 }, Rand: rand.New(rand.NewPCG(1, 2))}
		must(g.Run(t.Context(), slices.Values(targets)))
		slices.Sort(again)
		if first, last := again[0], again[len(again)-1]; len(again) != 50 || first < 2*time.Second || last-first < 1900*time.Millisecond || last > 4*time.Second+500*time.Millisecond {
			t.Errorf("%d came again from %s to %s after the cut", len(again), first, last)
		}
	})
}

// A function can pass messages to Message. Its own observation then has no verdict, and the schedule restarts.
func TestAttempt_Message(t *testing.T) {
	t.Parallel()
	states := [][]string{{"a", "b"}, {"c", "done", "d"}}
	p := poll.Poller{Rules: conditions(t, isDone), Rand: rand.New(still{}), Timeout: time.Minute,
		Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			for _, state := range states[a.Number-1] {
				time.Sleep(5 * time.Second)
				if a.Message(poll.Observe(ctx, fmt.Appendf(nil, `{"state":%q}`, state), nil)) {
					return status.Observation{}
				}
			}
			return poll.Observe(ctx, nil, errors.New("the channel was closed"))
		})}
	wantTimeline(t, timeline(t, p), `
0s      wait    #1 100ms
100ms   start   #1
5.1s    message
10.1s   message
10.1s   attempt #1 NOT_READY in 10s: the channel was closed; last: .state is "b", want == "done"
10.1s   wait    #2 100ms
10.2s   start   #2
15.2s   message
20.2s   attempt #2 SUCCESS in 10s: .state is "done"
20.2s   end     succeeded SUCCESS after 2: .state is "done"
`)
}

// Messages after the deciding message are ignored.
func TestAttempt_Message_afterTheDecidingMessage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := poll.Poller{Rules: conditions(t, isDone), MaxAttempts: 1, Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
			for _, state := range []string{"a", "done", "b"} {
				a.Message(poll.Observe(ctx, fmt.Appendf(nil, `{"state":%q}`, state), nil))
			}
			return status.Observation{}
		})}
		if o, err := p.Run(t.Context()); err != nil || o.State.Messages != 2 {
			t.Errorf("%v after %d messages", err, o.State.Messages)
		}
	})
}

// Breaking out of the iteration ends the stream.
func TestStream_break(t *testing.T) {
	bubble(t, func(t *testing.T) {
		transport := serve(t, func(s streaming) { s.sse().say(pending, pending).hold() })
		p := poll.Poller{Probe: poll.HTTP{URL: "http://a.test/", Stream: true, Transport: transport}, Rules: conditions(t, isDone)}
		for e := range p.Events(t.Context()) {
			if e.Kind == poll.EventMessage {
				break
			}
		}
	})
}

// A stream without its required settings fails before a request is sent.
func TestStream_refused(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]poll.Poller{
		"a stream needs a rule for SUCCESS, or its first message would be one": {Probe: poll.Command{Args: []string{"true"}, Stream: true}},
		"a stream has no pages": {Probe: poll.HTTP{URL: "http://a.test", Stream: true, Next: "auto"}, Rules: conditions(t, isDone)},
	} {
		if _, err := p.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// If messages come fast, their events are spaced, but each message is evaluated.
func TestStream_fast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		transport := serve(t, func(s streaming) {
			s.sse()
			for range 1000 {
				s.say(pending)
				time.Sleep(time.Millisecond)
			}
			s.say(done).hold()
		})
		p := poll.Poller{Probe: poll.HTTP{URL: "http://a.test/", Stream: true, Transport: transport}, Rules: conditions(t, isDone)}
		events := 0
		for e := range p.Events(t.Context()) {
			if e.Kind == poll.EventMessage {
				events++
			}
			if e.Kind == poll.EventEnd && e.State.Messages != 1001 {
				t.Errorf("%d messages", e.State.Messages)
			}
		}
		if events < 20 || events > 40 {
			t.Errorf("%d events", events)
		}
	})
}

// A stream over HTTP/2 that is reset is requested again.
func TestStream_reset(t *testing.T) {
	t.Parallel()
	n := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		s := streaming{t, n, w, r}
		if s.sse().say(pending); r.ProtoMajor != 2 {
			t.Error(r.Proto)
		}
		if n == 1 {
			s.cut()
		}
		s.say(done).hold()
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	h := poll.HTTP{URL: server.URL, Stream: true, Transport: server.Client().Transport}
	p := poll.Poller{Probe: h, Rules: conditions(t, isDone), Timeout: 5 * time.Minute}
	var reason string
	for e := range p.Events(t.Context()) {
		switch {
		case e.Kind == poll.EventAttempt && e.State.Attempts == 1:
			reason = e.Verdict.Reason
		case e.Kind == poll.EventEnd && (e.Outcome.Ending != poll.Succeeded || e.State.Attempts != 2 || e.State.Messages != 3):
			t.Errorf("%s after %d: %s", e.Outcome.Ending, e.State.Attempts, e.Outcome.Reason)
		}
	}
	if !strings.HasPrefix(reason, "the stream was cut after 1 message: stream error: stream ID 1; INTERNAL_ERROR") {
		t.Error(reason)
	}
}
