package poll

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
)

// A fault is how a server breaks over HTTP/2 once it has a request: by RST_STREAM, or by GOAWAY.
type fault struct {
	goAway bool
	code   http2.ErrCode
	// last is true for a GOAWAY that counts the request among those processed.
	last bool
}

// faults returns the faults that net/http handles in different ways.
func faults() (all []*fault) {
	for _, code := range []http2.ErrCode{
		http2.ErrCodeNo, http2.ErrCodeProtocol, http2.ErrCodeRefusedStream, http2.ErrCodeEnhanceYourCalm, http2.ErrCodeHTTP11Required,
	} {
		all = append(all, &fault{false, code, false}, &fault{true, code, false}, &fault{true, code, true})
	}
	return all
}

// A brokenServer speaks HTTP/2 and breaks as its fault describes. It counts the requests that arrive.
type brokenServer struct {
	config *tls.Config

	mu       sync.Mutex
	fault    *fault // nil for none
	silent   bool   // the first connection has died without a word
	conns    []net.Conn
	requests int
}

func (s *brokenServer) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, there)
	isFirst := len(s.conns) == 1
	out := make(chan []byte, 100)
	go func() {
		for b := range out {
			there.Write(b)
		}
	}()
	go func() {
		defer close(out)
		s.serve(tls.Server(&unhurried{there, out}, s.config), isFirst)
	}()
	return here, nil
}

// An unhurried connection writes without waiting for a reader, like a TCP connection and unlike a pipe.
type unhurried struct {
	net.Conn
	out chan<- []byte
}

func (c *unhurried) Write(p []byte) (int, error) {
	c.out <- bytes.Clone(p)
	return len(p), nil
}

// breakBy sets the fault of the server to f. It returns the number of requests since the last call.
func (s *brokenServer) breakBy(f *fault) (requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, s.requests, s.fault = s.requests, 0, f
	return requests
}

func (s *brokenServer) close() {
	for _, c := range s.conns {
		c.Close()
	}
}

func (s *brokenServer) serve(conn net.Conn, isFirst bool) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		s.mu.Lock()
		answers := !s.silent || !isFirst
		s.mu.Unlock()
		ended := false
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if answers && !f.IsAck() {
				framer.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			ended = f.StreamEnded()
		case *http2.DataFrame:
			ended = f.StreamEnded()
		}
		if answers && ended {
			s.answer(framer, frame.Header().StreamID)
		}
	}
}

// answer sends 429, so that a start request is sent again, unless the server breaks.
func (s *brokenServer) answer(framer *http2.Framer, id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	switch f := s.fault; {
	case f == nil:
		var block bytes.Buffer
		hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "429"})
		framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
	case !f.goAway:
		framer.WriteRSTStream(id, f.code)
	case f.last:
		framer.WriteGoAway(id, f.code, []byte("s3cret"))
	default:
		framer.WriteGoAway(0, f.code, []byte("s3cret"))
	}
}

// A sending is a request to the broken server.
type sending struct {
	method string
	body   []byte
	key    bool // it has an Idempotency-Key
	reused bool // the connection has carried a request before
}

// TestSentOnce breaks requests in every way of HTTP/2, and counts the requests that arrive: net/http would send
// many of them again. A start request arrives once. Any other request arrives at most twice in one attempt.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	config := serverConfig(t)
	for _, reused := range []bool{false, true} {
		for _, r := range []sending{
			{method: "GET"},
			{method: "POST"},
			{method: "POST", key: true},
			{method: "POST", body: []byte("start=1")},
			{method: "POST", body: []byte("start=1"), key: true},
		} {
			r.reused = reused
			t.Run(fmt.Sprintf("%s %q key %t reused %t", r.method, r.body, r.key, r.reused), func(t *testing.T) {
				t.Parallel()
				for _, f := range faults() {
					synctest.Test(t, func(t *testing.T) { r.meets(t, config, f) })
				}
			})
		}
	}
}

func serverConfig(t *testing.T) *tls.Config {
	pair, _ := certificate(t, time.Unix(0, 0), time.Now().Add(time.Hour), "api.example.com")
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}, CurvePreferences: []tls.CurveID{tls.X25519},
	}
}

// attempts returns a function that makes one attempt of the request.
func (r sending) attempts(t *testing.T, server *brokenServer, timeout time.Duration) func() status.Observation {
	transport := must(connect.Options{Insecure: true}.Transport())
	transport.Proxy, transport.DialContext = nil, server.dial
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.close()
	})
	h := HTTP{URL: "https://api.example.com/", Method: r.method, Body: r.body, Header: http.Header{}, Transport: transport}
	if r.key {
		h.Header.Set("Idempotency-Key", "1")
	}
	check := InTurn(h)
	return func() status.Observation {
		ctx, cancel := context.WithTimeoutCause(t.Context(), timeout, ErrAttemptTimeout)
		defer cancel()
		return check(ctx, Attempt{Number: 1}).Observation
	}
}

// meets makes an attempt that meets a fault, and one further attempt.
func (r sending) meets(t *testing.T, config *tls.Config, f *fault) {
	server := &brokenServer{config: config}
	attempt := r.attempts(t, server, 30*time.Second)
	probe := func() status.Observation {
		o := attempt()
		time.Sleep(time.Minute) // whatever is still under way arrives
		return o
	}
	if r.reused {
		if o := probe(); o.Code == nil {
			t.Fatalf("%+v: have no first answer: %v", f, o.Failure)
		}
	}
	server.breakBy(f)
	o := probe()
	requests, most := server.breakBy(nil), 1
	if r.method == "GET" {
		most = 2
	}
	switch {
	case requests > most || requests == 0:
		t.Errorf("%+v: %d requests", f, requests)
	case o.Failure == nil:
		t.Fatalf("%+v: have an answer, %d", f, *o.Code)
	case strings.Contains(o.Failure.Reason, "s3cret"):
		t.Errorf("%+v: have %q", f, o.Failure.Reason)
	}
	want := 1
	if o.Failure.Kind == status.FailureMayHaveStarted {
		want = 0
	}
	next := probe()
	if again := server.breakBy(nil); again != want || r.method != "GET" && requests+again > 1 {
		t.Errorf("%+v: %q after %d, then %d requests, want %d; %v", f, o.Failure.Reason, requests, again, want, next.Failure)
	}
}

// TestDeadConnection uses a connection that dies silently after the first response. The connection must not be
// used for ever.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	config := serverConfig(t)
	synctest.Test(t, func(t *testing.T) {
		server := &brokenServer{config: config}
		attempt := sending{method: "GET"}.attempts(t, server, 2*time.Second)
		if o := attempt(); o.Failure != nil {
			t.Fatal(o.Failure)
		}
		server.mu.Lock()
		server.silent = true
		server.mu.Unlock()
		began := time.Now()
		for o := attempt(); o.Failure != nil; o = attempt() {
			if time.Since(began) > time.Minute {
				t.Fatalf("still %v after %s, on %d connections", o.Failure, time.Since(began), len(server.conns))
			}
			time.Sleep(time.Second)
		}
		if len(server.conns) != 2 {
			t.Errorf("%d connections, want 2", len(server.conns))
		}
	})
}

// TestSentOnceOverIdleConnections breaks a connection that has carried a request, while further connections are
// idle: net/http would send a start request without a body again over an idle connection.
func TestSentOnceOverIdleConnections(t *testing.T) {
	t.Parallel()
	for range 20 {
		const conns = 8
		var together sync.WaitGroup // so that each has a connection of its own
		together.Add(conns)
		var starts atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				together.Done()
				together.Wait()
				return
			}
			starts.Add(1)
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}))
		defer server.Close()
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = conns
		var idle sync.WaitGroup
		for range conns {
			idle.Go(func() { HTTP{URL: server.URL, Transport: transport}.Check(t.Context(), Attempt{}) })
		}
		idle.Wait()
		start := HTTP{URL: server.URL, Method: "POST", Header: http.Header{"Idempotency-Key": {"1"}}, Transport: transport}
		o := start.Check(t.Context(), Attempt{})
		transport.CloseIdleConnections()
		if o.Failure == nil || o.Failure.Kind != status.FailureMayHaveStarted || starts.Load() != 1 {
			t.Errorf("%d starts arrived, %+v", starts.Load(), o.Failure)
		}
	}
}
