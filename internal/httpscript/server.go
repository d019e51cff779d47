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
		if a == nil || !a.write(conn, r.Method) {
			return
		}
	}
}

// A Server answers requests, and records them.
type Server struct {
	listener net.Listener // nil for none
	next     func(Request) *Answer

	mu       sync.Mutex
	requests []Request
	conns    []net.Conn
}

// New returns a server without a listener: the caller passes connections to [Server.Serve]. Requests
// are passed to next one at a time; if next returns nil, the connection is closed.
func New(next func(Request) *Answer) *Server { return &Server{next: next} }

// Start starts a server that accepts connections of a listener; Close ends it.
func Start(listener net.Listener, next func(Request) *Answer) *Server {
	s := New(next)
	s.listener = listener
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.Serve(conn)
		}
	}()
	return s
}

// Serve answers the requests of a connection, in a goroutine.
func (s *Server) Serve(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
	go ServeConn(conn, s.answer)
}

func (s *Server) answer(r Request) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return s.next(r)
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

// Close ends the connections, and the listener.
func (s *Server) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}
