package cli

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
)

// A caller runs poll in the process of the test, for one script.
type caller struct {
	env    map[string]string // the variables of the script
	input  string            // stdin of the next call
	bubble *bubble           // for calls in virtual time; nil for real time
}

type callerKey struct{}

// addCalls adds the commands that run poll in this process.
func addCalls(commands map[string]func(*testscript.TestScript, bool, []string)) {
	commands["call"], commands["exitcode"], commands["input"], commands["set"] = call, exitcodeOfCall, setInput, set
}

// prepareCalls adds a caller to the environment of a script.
func prepareCalls(env *testscript.Env) *caller {
	c := &caller{env: map[string]string{}}
	for _, variable := range env.Vars {
		name, value, _ := strings.Cut(variable, "=")
		c.env[name] = value
	}
	env.Values[callerKey{}] = c
	return c
}

func callerOf(ts *testscript.TestScript) *caller { return ts.Value(callerKey{}).(*caller) }

// set sets variables for calls and processes.
func set(ts *testscript.TestScript, neg bool, args []string) {
	for _, variable := range args {
		name, value, ok := strings.Cut(variable, "=")
		if neg || !ok {
			ts.Fatalf("usage: set NAME=VALUE...")
		}
		callerOf(ts).env[name] = value
		ts.Setenv(name, value)
	}
}

// setInput sets the file for stdin of the next call.
func setInput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	callerOf(ts).input = ts.ReadFile(args[0])
}

// call calls poll, which must end with exit code 0, or after ! with a different exit code.
func call(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != "poll" {
		ts.Fatalf("usage: call poll [arg...]")
	}
	if code := callerOf(ts).call(ts, args[1:]); neg != (code != run.ExitSuccess) {
		ts.Fatalf("have exit code %d", code)
	}
}

// exitcodeOfCall calls poll, or runs another program, and checks the exit code.
func exitcodeOfCall(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "poll" {
		exitcode(ts, neg, args)
	} else if have := callerOf(ts).call(ts, args[2:]); fmt.Sprint(int(have)) != args[0] {
		ts.Fatalf("have exit code %d, want %s", have, args[0])
	}
}

// call runs poll in this process. The working directory and the environment of the process belong to the
// script during the call, so no other test may run.
func (c *caller) call(ts *testscript.TestScript, args []string) run.ExitCode {
	dir, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(dir)
	before := os.Environ()
	defer setEnviron(before)
	var environ []string
	for name, value := range c.env {
		environ = append(environ, name+"="+value)
	}
	setEnviron(environ)

	streams, _, _ := httpscript.Streams(c.input)
	c.input = ""
	streams.Out, streams.Err = ts.Stdout(), ts.Stderr()
	streams.Unicode, streams.NoColor = false, c.env["NO_COLOR"] != ""
	process := NewProcess(args, os.LookupEnv, streams)
	if c.bubble != nil {
		return c.bubble.run(process)
	}
	ctx, cancel := context.WithCancel(context.Background()) // a deadline would shorten the wait and change the output
	defer time.AfterFunc(4*patience, cancel).Stop()
	defer cancel()
	return Run(ctx, process)
}

func setEnviron(environ []string) {
	os.Clearenv()
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
}

// inTurn runs scripts sequentially.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel()     {}
func (t inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

// serve starts a server that returns the responses in turn, and then repeats the
// last response. Package httpscript describes the form of a response:
//
//	serve [-tls|-unix] NAME ANSWER...
//	serve -routes NAME FILE
//
// With -routes the file has lines METHOD PATH ANSWER..., and the responses of each path
// have their own order. $NAME is the URL of the server. The file NAME.pem holds the
// certificate of -tls, and NAME.sock is the socket of -unix.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	how, name, next := serverArgs(ts, neg, args)
	network, address := "tcp", "127.0.0.1:0"
	if how == "-unix" {
		network, address = "unix", ts.MkAbs(name+".sock")
	}
	listener, err := net.Listen(network, address)
	ts.Check(err)
	url := "http://" + listener.Addr().String()
	switch how {
	case "":
	case "-tls":
		url = "https://" + listener.Addr().String()
		owner := httptest.NewTLSServer(nil) // the source of a certificate
		owner.Close()
		listener = tls.NewListener(listener, &tls.Config{Certificates: owner.TLS.Certificates})
		block := pem.Block{Type: "CERTIFICATE", Bytes: owner.Certificate().Raw}
		ts.Check(os.WriteFile(ts.MkAbs(name+".pem"), pem.EncodeToMemory(&block), 0o666))
	case "-unix":
		url = "http://" + name + ".test"
	default:
		ts.Fatalf("there is no serve %s", how)
	}
	server := httpscript.Start(listener, next)
	ts.Defer(server.Close)
	ts.Setenv(name, url)
	servers.Store(serverKey{ts, name}, server)
}

// serverArgs parses the arguments of serve: -tls or -unix, the name, and the responses.
func serverArgs(ts *testscript.TestScript, neg bool, args []string) (how, name string, next func(httpscript.Request) *httpscript.Answer) {
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		how, args = args[0], args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve [-tls|-unix|-routes] NAME answer...")
	}
	name = args[0]
	var err error
	if how == "-routes" {
		how = ""
		next, err = routes(ts.ReadFile(args[1]), ts.MkAbs, func(r httpscript.Request) {
			ts.Logf("%s: nothing is said of %s %s", name, r.Method, r.URI)
		})
	} else {
		next, err = httpscript.InTurn(args[1:], ts.MkAbs)
	}
	ts.Check(err)
	return how, name, next
}

// servers are the servers of all scripts.
var servers sync.Map

type serverKey struct {
	script *testscript.TestScript
	name   string
}

func serverOf(ts *testscript.TestScript, name string) *httpscript.Server {
	s, ok := servers.Load(serverKey{ts, name})
	if !ok {
		ts.Fatalf("no server %s", name)
	}
	return s.(*httpscript.Server)
}

// requests prints the requests that a server received.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: requests NAME [N]")
	}
	have := serverOf(ts, args[0]).Requests()
	for _, r := range have {
		io.WriteString(ts.Stdout(), r.String())
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

// gap checks the time between a request and the previous request.
func gap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: gap NAME N D")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	want, err := time.ParseDuration(args[2])
	ts.Check(err)
	list := serverOf(ts, args[0]).Requests()
	if n < 2 || n > len(list) {
		ts.Fatalf("there is no request before number %d: %d were made", n, len(list))
	}
	if have := list[n-1].At.Sub(list[n-2].At); have < want {
		ts.Fatalf("request %d came after %v, want %v", n, have, want)
	}
}

// port sets $PORT to the TCP address of a URL.
func port(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: port URL")
	}
	ts.Setenv("PORT", strings.Replace(args[0], "http://", "tcp://", 1))
}

// TestScript_virtual runs the scripts of testdata/virtual, whose facts depend on time. They have the commands
// of [TestScript_plain], and each call of poll runs in a synctest bubble: no wait takes real time, and each
// request comes at an exact time. The clock of a script starts at the real time, and continues in the next call.
//
//	sleep D                       pass time between two calls
//	serve [-routes] NAME ...      the server NAME.test, for calls only
//
// A command that poll runs takes no virtual time, so the command must end immediately.
func TestScript_virtual(t *testing.T) {
	p := scripts("testdata/virtual")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		err := setup(env)
		prepareCalls(env).bubble = &bubble{t: env.T().(inTurn).T, clock: time.Since(bubbleStart), servers: make(map[string]*httpscript.Server)}
		return err
	}
	addCalls(p.Cmds)
	p.Cmds["serve"], p.Cmds["sleep"] = serveCalls, passTime
	testscript.RunT(inTurn{t}, p)
}

// bubbleStart is the start of the clock in each synctest bubble.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A bubble is the clock and the network of one script.
type bubble struct {
	t       *testing.T
	clock   time.Duration // since bubbleStart
	servers map[string]*httpscript.Server
}

// run runs poll.
func (b *bubble) run(p Process) (code run.ExitCode) {
	p.Dial = b.dial
	synctest.Test(b.t, func(t *testing.T) {
		time.Sleep(b.clock)
		code = Run(t.Context(), p)
		b.clock = time.Since(bubbleStart)
		for _, s := range b.servers {
			s.Close()
		}
		time.Sleep(time.Hour) // until the servers have ended
	})
	return code
}

// dial connects poll to the server with the given name.
func (b *bubble) dial(_ context.Context, network, address string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(address); strings.HasSuffix(host, ".invalid") {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	server := b.servers[strings.TrimSuffix(address, ".test:80")]
	if server == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	ours, theirs := net.Pipe()
	server.Serve(theirs)
	return ours, nil
}

func serveCalls(ts *testscript.TestScript, neg bool, args []string) {
	how, name, next := serverArgs(ts, neg, args)
	b, host := callerOf(ts).bubble, strings.ToLower(name)
	if how != "" || b.servers[host] != nil {
		ts.Fatalf("serve %s: no server of that kind or name", name)
	}
	b.servers[host] = httpscript.New(next)
	ts.Setenv(name, "http://"+host+".test")
	servers.Store(serverKey{ts, name}, b.servers[host])
}

func passTime(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sleep D")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	callerOf(ts).bubble.clock += d
}
