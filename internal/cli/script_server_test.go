//go:build unix

package cli

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve starts a server that gives the answers in turn, and the last one from
// then on:
//
//	serve [-tls|-unix] NAME ANSWER...
//
// $NAME is its URL; the certificate of -tls is in the file NAME.pem, the socket
// of -unix is NAME.sock. An answer is
//
//	[N*]CODE[,HEADER=VALUE...][:BODY]
//
// N times this status code with this body. A value with a comma or a colon
// stands in <>. A body of @FILE is the content of the file; \n at the end of a
// body is a newline. Two names are no headers: delay=D waits before the answer,
// touch=FILE makes a file when the request is there. In place of a status code,
// "hang" never answers and "hangup" closes the connection.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	how := ""
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		how, args = args[0], args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve [-tls|-unix] NAME answer...")
	}
	name, s := args[0], &server{}
	for _, spec := range args[1:] {
		answers, err := parseAnswer(spec, ts.MkAbs)
		ts.Check(err)
		s.answers = append(s.answers, answers...)
	}
	running := httptest.NewUnstartedServer(s)
	running.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are meant
	ts.Defer(func() {
		running.CloseClientConnections()
		running.Close()
	})
	switch how {
	case "":
		running.Start()
	case "-tls":
		running.StartTLS()
		block := pem.Block{Type: "CERTIFICATE", Bytes: running.Certificate().Raw}
		ts.Check(os.WriteFile(ts.MkAbs(name+".pem"), pem.EncodeToMemory(&block), 0o666))
	case "-unix":
		listener, err := net.Listen("unix", ts.MkAbs(name+".sock"))
		ts.Check(err)
		running.Listener.Close()
		running.Listener = listener
		running.Start()
		running.URL = "http://" + name + ".test"
	default:
		ts.Fatalf("there is no serve %s", how)
	}
	ts.Setenv(name, running.URL)
	servers.Store(serverKey{ts, name}, s)
}

// servers are those of all scripts.
var servers sync.Map

type serverKey struct {
	script *testscript.TestScript
	name   string
}

func serverOf(ts *testscript.TestScript, name string) *server {
	s, ok := servers.Load(serverKey{ts, name})
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

// anAnswer are the parts of an answer, and aHeader those of one of its headers.
var (
	anAnswer = regexp.MustCompile(`(?s)^(?:(\d+)\*)?(\w+)((?:,[\w-]+=(?:<[^>]*>|[^,:]*))*)(?::(.*))?$`)
	aHeader  = regexp.MustCompile(`,([\w-]+)=(?:<([^>]*)>|([^,:]*))`)
)

func parseAnswer(spec string, abs func(string) string) ([]answer, error) {
	m := anAnswer.FindStringSubmatch(spec)
	if m == nil {
		return nil, fmt.Errorf("%q is no answer", spec)
	}
	a := answer{header: http.Header{}, hang: m[2] == "hang", hangup: m[2] == "hangup"}
	if !a.hang && !a.hangup {
		code, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("answer %q: %w", spec, err)
		}
		a.code = code
	}
	for _, h := range aHeader.FindAllStringSubmatch(m[3], -1) {
		if err := a.set(h[1], h[2]+h[3], abs); err != nil {
			return nil, fmt.Errorf("answer %q: %w", spec, err)
		}
	}
	body := m[4]
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
	times := 1
	if m[1] != "" {
		times, _ = strconv.Atoi(m[1]) // the pattern has seen to it
	}
	return slices.Repeat([]answer{a}, times), nil
}

func (a *answer) set(name, value string, abs func(string) string) (err error) {
	switch name {
	case "delay":
		a.delay, err = time.ParseDuration(value)
	case "touch":
		a.touch = abs(value)
	default:
		a.header.Add(name, value)
	}
	return err
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
