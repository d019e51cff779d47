package cli

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
)

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
