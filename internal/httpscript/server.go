package httpscript

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Request is a request as the server received it.
type Request struct {
	At     time.Time
	Method string
	Host   string
	URI    string // path and query
	Header http.Header
	Body   []byte
}

// String returns the request line, followed by lines with the headers, sorted by
// name, and the body.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URI)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(r.Header[name], " | "))
	}
	if len(r.Body) > 0 {
		fmt.Fprintf(&b, "  %q\n", r.Body)
	}
	return b.String()
}

// ServeConn answers the requests of one connection until next returns nil, then
// closes it.
func ServeConn(conn net.Conn, next func(Request) *Answer) {
	serve(conn, next, func() {})
}

// serve is ServeConn; answered is called after each answer.
func serve(conn net.Conn, next func(Request) *Answer, answered func()) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		a := next(Request{time.Now(), r.Method, r.Host, r.URL.RequestURI(), r.Header, body})
		goesOn := a != nil && a.write(conn, r.Method)
		answered()
		if !goesOn {
			return
		}
	}
}

// A Server answers on a listener, and records the requests.
type Server struct {
	listener net.Listener
	next     func(Request) *Answer

	mu       sync.Mutex
	requests []Request
	conns    []net.Conn
	now      int // requests under way
	peak     int
}

// Start starts a server; Close ends it. Requests are passed to next one at a time;
// if it returns nil, the connection is closed.
func Start(listener net.Listener, next func(Request) *Answer) *Server {
	s := &Server{listener: listener, next: next}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			go serve(conn, s.answer, s.answered)
		}
	}()
	return s
}

func (s *Server) answer(r Request) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.now++
	s.peak = max(s.peak, s.now)
	return s.next(r)
}

func (s *Server) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

// Peak returns the largest number of requests that were under way at once.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// InTurn returns the answers of texts in turn, then the last one again and again.
// resolve is as in [Parse].
func InTurn(texts []string, resolve func(string) string) (next func(Request) *Answer, err error) {
	var answers []Answer
	for _, text := range texts {
		parsed, err := Parse(text, resolve)
		if err != nil {
			return nil, err
		}
		answers = append(answers, parsed...)
	}
	n := 0
	return func(Request) *Answer {
		n = min(n+1, len(answers))
		return &answers[n-1]
	}, nil
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
}
