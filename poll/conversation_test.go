package poll_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A conversation is an entry of testdata/conversations/*.txt: the settings, the expected requests with their
// responses, and the expected ending. See testdata/conversations/README.
type conversation struct {
	file   string // without its extension
	name   string
	probe  poll.HTTP
	poller poll.Poller
	turns  []*turn
	want   ending
}

// A turn is an expected request, or an expected connection, and the response.
type turn struct {
	at      time.Duration
	method  string // "dial" for a connection
	url     string // host:port for a connection
	headers []string
	lines   []string // of the response
	answer  httpscript.Answer
}

type ending struct {
	verdicts string
	lines    []string // "word text"
}

// planted is part of every credential and query of the conversations. No output of poll may contain it.
const planted = "s3cret"

func TestConversations(t *testing.T) {
	converse(t, func(t *testing.T, c conversation) { c.run(t, (*poll.Poller).Events) })
}

// converse runs a test on each conversation in a bubble.
func converse(t *testing.T, test func(t *testing.T, c conversation)) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, c := range readConversations(t, file) {
				c.file = strings.TrimSuffix(filepath.Base(file), ".txt")
				t.Run(c.name, func(t *testing.T) {
					bubble(t, func(t *testing.T) { test(t, c) })
				})
			}
		})
	}
}

func (c conversation) run(t *testing.T, events func(*poll.Poller, context.Context) iter.Seq[poll.Event]) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	peer := &peer{t: t, turns: c.turns, start: time.Now(), stop: cancel}
	transport := peer.transport(t)
	defer transport.CloseIdleConnections()
	probe := c.probe
	probe.Transport = transport
	p := c.poller
	p.Probe, p.Target = probe, probe.Target()
	p.Rand = rand.New(still{})

	var said []string
	var verdicts []string
	var outcome poll.Outcome
	for e := range events(&p, ctx) {
		said = append(said, e.Target, line(e))
		switch e.Kind {
		case poll.EventAttempt:
			verdicts = append(verdicts, string(e.Verdict.Status))
			said = append(said, texts(e.Observation.Hints)...)
			said = append(said, "next "+e.Observation.Next)
			if f := e.Observation.Failure; f != nil && f.Err != nil {
				said = append(said, f.Err.Error())
			}
		case poll.EventEnd:
			outcome = *e.Outcome
		}
	}
	if err := outcome.Err(); err != nil {
		said = append(said, err.Error())
	}
	peer.done()
	c.want.check(t, verdicts, said, outcome)
}

// texts returns the texts of hints.
func texts(hints []status.Hint) (all []string) {
	for _, h := range hints {
		all = append(all, h.Text)
	}
	return all
}

func (w ending) check(t *testing.T, verdicts, said []string, outcome poll.Outcome) {
	t.Helper()
	all := strings.Join(said, "\n")
	if diff := cmp.Diff(w.verdicts, strings.Join(verdicts, " ")); diff != "" {
		t.Errorf("verdicts (-want +have):\n%s", diff)
	}
	if strings.Contains(all, planted) {
		t.Errorf("a secret was said")
	}
	exact := map[string]string{
		"body": string(outcome.Observation.Body), "pages": string(bytes.Join(outcome.Observation.Pages, []byte(" "))),
		"size": strconv.FormatInt(outcome.Observation.Size, 10), "ending": string(outcome.Ending), "took": outcome.Elapsed.String(),
	}
	part := map[string]string{
		"reason": outcome.Reason, "said": all, "note": strings.Join(texts(outcome.Hints), "\n"),
	}
	for _, line := range w.lines {
		word, want, _ := strings.Cut(line, " ")
		have, isExact := exact[word]
		text, isPart := part[word]
		switch {
		case isExact && have != want, isPart && !strings.Contains(text, want), word == "unsaid" && strings.Contains(all, want):
			t.Errorf("%s: have %.200q, want %q", word, have+text, want)
		case !isExact && !isPart && word != "unsaid":
			t.Fatalf("unknown ending %q", line)
		}
	}
	if t.Failed() {
		t.Log("what was said:\n" + all)
	}
}

// still is a source of randomness that adds no jitter.
type still struct{}

func (still) Uint64() uint64 { return 0 }

// A peer is every server of a conversation.
type peer struct {
	t     *testing.T
	start time.Time
	stop  func() // ends the run
	mu    sync.Mutex
	turns []*turn // still to come
	conns []net.Conn
}

// transport returns a transport over pipes, like the transport of package connect. Requests over TLS are not
// encrypted.
func (p *peer) transport(t *testing.T) *http.Transport {
	transport := must(connect.Options{}.Transport())
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		return p.dial(ctx, "http", address)
	}
	transport.DialTLSContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		return p.dial(ctx, "https", address)
	}
	return transport
}

func (p *peer) dial(ctx context.Context, scheme, address string) (net.Conn, error) {
	if next := p.peek(); next != nil && next.method == "dial" {
		p.take("dial", address, nil)
		return nil, dialError(ctx, next.answer.What, address)
	}
	ours, theirs := net.Pipe()
	p.mu.Lock()
	p.conns = append(p.conns, theirs)
	p.mu.Unlock()
	go httpscript.ServeConn(theirs, func(r httpscript.Request) *httpscript.Answer { return p.next(scheme, r) })
	return ours, nil
}

func dialError(ctx context.Context, what, address string) error {
	host, _, _ := net.SplitHostPort(address)
	var cause error
	switch what {
	case "refused":
		cause = os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case "unreachable":
		cause = os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	case "nxdomain":
		cause = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case "hang":
		<-ctx.Done()
		cause = ctx.Err()
	}
	return &net.OpError{Op: "dial", Net: "tcp", Err: cause}
}

func (p *peer) peek() *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.turns) == 0 {
		return nil
	}
	return p.turns[0]
}

// take checks a request against the turn that must come next.
func (p *peer) take(method, url string, header http.Header) *turn {
	next := p.peek()
	at := time.Since(p.start)
	if next == nil {
		p.t.Errorf("at %s: unexpected %s %s", at, method, url)
		p.stop()
		return nil
	}
	p.mu.Lock()
	p.turns = p.turns[1:]
	p.mu.Unlock()
	want := fmt.Sprintf("%s %s %s", next.at, next.method, next.url)
	if have := fmt.Sprintf("%s %s %s", at, method, url); have != want {
		p.t.Errorf("have request %s\nwant         %s", have, want)
	}
	for _, line := range next.headers {
		checkHeader(p.t, method+" "+url, header, line)
	}
	return next
}

func checkHeader(t *testing.T, request string, header http.Header, line string) {
	if name, absent := strings.CutPrefix(line, "-"); absent {
		if len(header.Values(name)) != 0 {
			t.Errorf("%s: header %s is sent", request, name)
		}
		return
	}
	name, want, _ := strings.Cut(line, ": ")
	if have := header.Get(name); have != want {
		t.Errorf("%s: header %s: have %q, want %q", request, name, have, want)
	}
}

// next returns the response to a request, from the expected turn.
func (p *peer) next(scheme string, r httpscript.Request) *httpscript.Answer {
	r.Header.Set("Host", r.Host)
	r.Header.Set("Body", string(r.Body))
	next := p.take(r.Method, scheme+"://"+r.Host+r.URI, r.Header)
	if next == nil {
		return nil
	}
	return &next.answer
}

// done reports the turns that did not come.
func (p *peer) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, left := range p.turns {
		p.t.Errorf("never came: %s %s %s", left.at, left.method, left.url)
	}
	for _, c := range p.conns {
		c.Close()
	}
}

// readConversations reads a file of conversations. Each begins with "# name".
func readConversations(t *testing.T, file string) []conversation {
	t.Helper()
	text := must(os.ReadFile(file))
	var all []conversation
	for i, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, newConversation(name))
			continue
		}
		if line == "" {
			continue
		}
		if err := all[len(all)-1].add(line); err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
	}
	for _, c := range all {
		for _, turn := range c.turns {
			answers, err := httpscript.Parse(strings.Join(turn.lines, "\n"), nil)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, c.name, err)
			}
			turn.answer = answers[0]
		}
	}
	return all
}

func newConversation(name string) conversation {
	return conversation{
		name:  name,
		probe: poll.HTTP{Header: http.Header{}},
		poller: poll.Poller{
			Immediate:      true,
			Schedule:       backoff.Fixed(time.Second),
			Timeout:        10 * time.Minute,
			AttemptTimeout: 30 * time.Second,
		},
	}
}

// add reads one line: "! setting", "> request", "< answer" or "= ending".
func (c *conversation) add(line string) error {
	mark, text := line[:1], strings.TrimPrefix(line[1:], " ")
	switch mark {
	case "!":
		return c.set(text)
	case ">":
		return c.expect(text)
	case "<":
		last := c.turns[len(c.turns)-1]
		last.lines = append(last.lines, text)
		return nil
	case "=":
		if c.want.verdicts == "" {
			c.want.verdicts = text
		} else {
			c.want.lines = append(c.want.lines, text)
		}
		return nil
	}
	return fmt.Errorf("what is %q?", line)
}

func (c *conversation) expect(text string) error {
	if n := len(c.turns); n > 0 && len(c.turns[n-1].lines) == 0 {
		c.turns[n-1].headers = append(c.turns[n-1].headers, text)
		return nil
	}
	parts := strings.Fields(text)
	if len(parts) != 3 {
		return errors.New("not a time, a method and a URL")
	}
	at, err := time.ParseDuration(parts[0])
	c.turns = append(c.turns, &turn{at: at, method: parts[1], url: parts[2]})
	return err
}

// set reads a setting, in the syntax of the command line.
func (c *conversation) set(text string) (err error) {
	name, value, _ := strings.Cut(text, " ")
	switch name {
	case "-X":
		c.probe.Method = value
	case "-d":
		c.probe.Body = []byte(value)
	case "-H":
		key, v, _ := strings.Cut(value, ": ")
		c.probe.Header.Add(key, v)
	case "-u":
		login, password, _ := strings.Cut(value, ":")
		c.probe.User = url.UserPassword(login, password)
	case "--immediate=false":
		c.poller.Immediate = false
	case "--follow":
		c.probe.Follow = value
	case "--next":
		c.probe.Next = value
	case "--no-conditional":
		c.probe.Header = http.Header{"If-None-Match": nil}
	case "--location-trusted":
		c.probe.LocationTrusted = true
	case "--max-redirs":
		c.probe.MaxRedirects, err = strconv.Atoi(value)
	case "--max-body":
		c.probe.MaxBody, err = strconv.ParseInt(value, 10, 64)
	case "--accept":
		for code := range strings.SplitSeq(value, ",") {
			var n int
			n, err = strconv.Atoi(code)
			c.poller.Rules.Accept = append(c.poller.Rules.Accept, n)
		}
	case "--strict":
		c.poller.Rules.Strict = true
	case "--until":
		return c.rule(status.Success, name, value)
	case "--error-if":
		return c.rule(status.Error, name, value)
	case "--throttled-if":
		return c.rule(status.Throttled, name, value)
	case "--retry-after":
		c.poller.RetryAfter, err = expr.CompileValue(value)
	case "--not-ready-if":
		return c.rule(status.NotReady, name, value)
	case "--success-threshold":
		if c.poller.SuccessThreshold.Times, err = strconv.Atoi(value); err != nil {
			c.poller.SuccessThreshold.For, err = time.ParseDuration(value)
		}
	case "--error-threshold":
		c.poller.ErrorThreshold.Times, err = strconv.Atoi(value)
	case "--max-attempts":
		c.poller.MaxAttempts, err = strconv.Atoi(value)
	case "--timeout":
		c.poller.Timeout, err = time.ParseDuration(value)
	case "--attempt-timeout":
		c.poller.AttemptTimeout, err = time.ParseDuration(value)
	case "--throttled":
		d, err := time.ParseDuration(value)
		c.poller.Throttled = backoff.Fixed(d)
		return err
	case "--renewed":
		var renewed http.Header // once it was refused
		c.probe.Refresh = func(_ *http.Request, refused bool) (http.Header, error) {
			if refused {
				renewed = http.Header{"authorization": {value}}
			}
			return renewed, nil
		}
	case "--rate":
		pacer := &poll.Pacer{Rand: rand.New(still{})}
		pacer.PerSecond, err = strconv.ParseFloat(value, 64)
		c.poller.Limiter = pacer
	case "--interval":
		var d time.Duration
		d, err = time.ParseDuration(value)
		c.poller.Schedule = backoff.Fixed(d)
	default:
		if !slices.Contains([]string{"http", "https"}, strings.SplitN(name, ":", 2)[0]) {
			return fmt.Errorf("unknown setting %q", name)
		}
		c.probe.URL = name
	}
	return err
}

func (c *conversation) rule(s status.Status, origin, source string) error {
	x, err := expr.Compile(source)
	c.poller.Rules.Own = append(c.poller.Rules.Own, status.Rule{Status: s, Expr: x, Origin: origin})
	return err
}
