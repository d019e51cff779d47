package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// The probes of an operation, in addition to HTTP requests.
const (
	byCommand = "command" // a command that requests the same server
	byTCP     = "tcp"     // to a port that is open as long as the operation is there
)

// tcpHost has a port for each operation, its ID.
const tcpHost = "tcp.test"

// drawProbe draws what looks at the operations. A command line runs real programs.
func (p *plan) drawProbe(r *rand.Rand) {
	isCommand, isTCP := r.IntN(8) == 0, r.IntN(12) == 0 && p.List == nil
	switch {
	case isTCP:
		p.Probe, p.Until, p.ErrorIf = byTCP, nil, nil
	case p.isLine() || p.isGone() && isCommand:
		return
	case isCommand && p.List != nil:
		p.Probe, p.List.Size, p.List.Start = byCommand, 99, false
	case isCommand:
		p.Probe = byCommand
	default:
		return
	}
	p.Renewal = 0
	for i := range p.Ops {
		o := &p.Ops[i]
		o.Method, o.Answer = "", ""
		for k, f := range o.Phases {
			if isTCP && !p.Gone && f.State != "done" {
				o.Phases[k].State = absent
			}
		}
	}
}

// look has a server asked, and returns its reply, nil if none has come when the context ends.
func (p *process) look(ctx context.Context, url string) (*request, *reply) {
	r := must(http.NewRequest("GET", url, nil))
	p.mu.Lock()
	q := p.read(home, r)
	p.mu.Unlock()
	came := make(chan *reply, 1)
	go func() {
		if rep := p.receive(q); rep != nil && !rep.hang {
			time.Sleep(rep.late)
			came <- rep
		}
	}()
	select {
	case rep := <-came:
		rep.hint = 0 // which has no place in what a program says
		p.after(q, rep, !rep.reset && rep.cut == 0)
		return q, rep
	case <-ctx.Done():
		p.after(q, new(reply), false)
		return q, nil
	}
}

// texts are negative conditions on the output of a command. They are true of any output without a state.
var texts = []string{
	`$stdout !~ "queued|running|failed"`, `$output !~ "queued|running|failed"`,
	`not ($stdout contains "queued" or $stdout contains "running" or $stdout contains "failed")`,
	`$stdout != "" and not ($stdout =~ "queued|running|failed")`,
}

// hasText reports whether Text fits the plan.
func (p *plan) hasText() bool {
	isAlone := p.Probe == byCommand && p.List == nil && p.Stream == nil && p.presetName() == ""
	return isAlone && p.Until != nil && p.Until.Op == `.state == "done"` && p.Text <= len(texts)
}

// A program is a command, as a probe: its outputs, without a process.
type program struct {
	*process
	url string
}

// Probe runs the program. What the server says is on its standard output, and how on standard error.
func (g program) Plan() poll.Plan { return poll.Plan{} }

func (g program) Check(ctx context.Context, a poll.Attempt) poll.Report {
	return poll.Report{Observation: g.observe(ctx, a)}
}

// observe runs the program.
func (g program) observe(ctx context.Context, a poll.Attempt) status.Observation {
	q, rep := g.look(ctx, g.url)
	if rep != nil && rep.streams && !rep.reset {
		return g.listen(ctx, a, q, rep)
	}
	if rep == nil {
		o := poll.Observe(ctx, nil, ctx.Err())
		o.Kind = status.KindCommand
		return o
	}
	exit, said, out, isCut := 0, "", rep.body, g.Text > 0 && rep.cut > 0
	switch r := g.dice(g.url, a.Number); {
	case rep.reset:
		exit, said, out = pick(r, 1, 56, 137), "error: connection reset by peer", ""
	case rep.cut > 0: // by a program that does not notice, perhaps
		exit, out = pick(r, 0, 1, 141), out[:min(rep.cut, max(0, len(out)-1))]
	case rep.code >= 300:
		exit, said = pick(r, 1, 1, 22, 255), fmt.Sprintf("warning: one more try\nHTTP %d: %s", rep.code, http.StatusText(rep.code))
	default:
		said = pick(r, "", "", "warning: this version is old", "error: 429, tried again")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saw["exit code not 0"] = g.saw["exit code not 0"] || exit != 0
	o := status.Observation{Kind: status.KindCommand, Body: []byte(out), Size: int64(len(out)), Exit: &exit, Stderr: []byte(said), Truncated: isCut}
	o.Output, o.OutputCut = append([]byte(out), said...), isCut
	return o
}

// connect connects to the port of an operation.
func (p *process) connect(ctx context.Context, port string) (net.Conn, error) {
	_, rep := p.look(ctx, "http://a.test/ops/"+port)
	code := syscall.ECONNREFUSED
	switch {
	case rep == nil:
		return nil, ctx.Err()
	case rep.reset:
		code = syscall.ECONNRESET
	case rep.code < 300:
		ours, theirs := net.Pipe()
		return ours, theirs.Close()
	}
	return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", code)}
}

// probe returns what looks at what a request is about.
func (p *process) probe(h poll.HTTP) poll.Probe {
	switch p.Probe {
	case byCommand:
		return program{p, h.URL}
	case byTCP:
		_, id, _ := strings.Cut(h.URL, "ops/")
		return poll.TCP{Address: tcpHost + ":" + id, Dial: p.dial}
	}
	return h
}
