//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve starts a server that gives the answers in turn, and the last one from
// then on. An answer is
//
//	[N*]CODE[,HEADER=VALUE...][:BODY]
//
// N times this status code with this body. A body of @FILE is the content of
// the file; \n at the end of a body is a newline. Two names are no headers: delay=D waits before the answer, touch=FILE
// makes a file when the request is there. In place of a status code, "hang" never
// answers and "hangup" closes the connection.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME answer...")
	}
	s := &server{}
	for _, spec := range args[1:] {
		answers, err := parseAnswer(spec, ts.MkAbs)
		ts.Check(err)
		s.answers = append(s.answers, answers...)
	}
	running := httptest.NewServer(s)
	ts.Defer(func() {
		running.CloseClientConnections()
		running.Close()
	})
	ts.Setenv(args[0], running.URL)
	servers.Store(running.URL, s)
}

// servers are those of all scripts, by their URL.
var servers sync.Map

func serverOf(ts *testscript.TestScript, name string) *server {
	s, ok := servers.Load(ts.Getenv(name))
	if !ok {
		ts.Fatalf("no server %s", name)
	}
	return s.(*server)
}

// A server gives answers in turn and keeps what it was asked.
type server struct {
	answers []answer

	mu    sync.Mutex
	asked []asked
}

type answer struct {
	code   int
	header http.Header
	delay  time.Duration
	touch  string
	body   []byte
	hang   bool
	hangup bool
}

type asked struct {
	at   time.Time
	text string
}

func parseAnswer(spec string, abs func(string) string) ([]answer, error) {
	times := 1
	if n, rest, ok := strings.Cut(spec, "*"); ok {
		if many, err := strconv.Atoi(n); err == nil {
			times, spec = many, rest
		}
	}
	a := answer{header: http.Header{}}
	head, body, _ := strings.Cut(spec, ":")
	words := strings.Split(head, ",")
	switch words[0] {
	case "hang":
		a.hang = true
	case "hangup":
		a.hangup = true
	default:
		code, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("answer %q: %w", spec, err)
		}
		a.code = code
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "delay":
			d, err := time.ParseDuration(value)
			if err != nil {
				return nil, fmt.Errorf("answer %q: %w", spec, err)
			}
			a.delay = d
		case "touch":
			a.touch = abs(value)
		default:
			a.header.Add(name, value)
		}
	}
	if text, ok := strings.CutSuffix(body, `\n`); ok {
		body = text + "\n"
	}
	a.body = []byte(body)
	if file, ok := strings.CutPrefix(body, "@"); ok {
		text, err := os.ReadFile(abs(file))
		if err != nil {
			return nil, err
		}
		a.body = text
	}
	return slices.Repeat([]answer{a}, times), nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.next(r)
	if a.touch != "" {
		os.WriteFile(a.touch, nil, 0o666)
	}
	select {
	case <-time.After(a.delay):
	case <-r.Context().Done():
		return
	}
	switch {
	case a.hang:
		<-r.Context().Done()
		return
	case a.hangup:
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	w.Write(a.body)
}

// next keeps the request and returns the answer that is due.
func (s *server) next(r *http.Request) answer {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.RequestURI())
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "  %s: %s\n", name, strings.Join(r.Header[name], " | "))
	}
	if body, _ := io.ReadAll(r.Body); len(body) > 0 {
		fmt.Fprintf(&b, "  %q\n", body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked{time.Now(), b.String()})
	return s.answers[min(len(s.asked), len(s.answers))-1]
}

func (s *server) requests() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// requests prints what a server was asked.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: requests NAME [N]")
	}
	have := serverOf(ts, args[0]).requests()
	for _, r := range have {
		io.WriteString(ts.Stdout(), r.text)
	}
	if len(args) < 2 {
		return
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(have) != want {
		ts.Fatalf("have %d requests, want %d", len(have), want)
	}
}

// gap checks the time between a request and the one before.
func gap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: gap NAME N D")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	want, err := time.ParseDuration(args[2])
	ts.Check(err)
	list := serverOf(ts, args[0]).requests()
	if n < 2 || n > len(list) {
		ts.Fatalf("there is no request before number %d: %d were made", n, len(list))
	}
	if have := list[n-1].at.Sub(list[n-2].at); have < want {
		ts.Fatalf("request %d came after %v, want %v", n, have, want)
	}
}
