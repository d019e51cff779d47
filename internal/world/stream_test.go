package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A streaming is how servers, or programs, push what an operation is.
type streaming struct {
	Kind   string        `json:",omitzero"` // see contentTypes
	Ends   string        `json:",omitzero"` // a line of an event, "" for a line feed
	Named  bool          `json:",omitzero"` // events have names, and some are about something else
	IDs    bool          `json:",omitzero"` // events have IDs, and events older than the client's are not sent
	Replay bool          `json:",omitzero"` // a stream begins with all that was so before
	Every  time.Duration `json:",omitzero"` // the state is said again, 0 if it is said when it changes
	Beat   time.Duration `json:",omitzero"` // between signs of life, 0 for none
	Retry  time.Duration `json:",omitzero"` // the least time until the next stream, 0 if none is named
	Slow   bool          `json:",omitzero"` // there may be pauses within a message
}

// contentTypes are those of the kinds of streams; of a program there is none.
var contentTypes = map[string]string{
	"events": "text/event-stream", "lines": "application/x-ndjson", "records": "application/json-seq", "documents": "application/json",
}

// drawStream makes a plan one of streams, by chance of its own: other plans stay as they are.
func (p *plan) drawStream() {
	r := rand.New(rand.NewPCG(p.Seed, 43))
	if r.IntN(4) > 0 || p.List != nil || p.Gone || p.Probe == byTCP {
		return
	}
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	s := &streaming{Kind: pick(r, append(sorted(contentTypes), "events", "events")...), Replay: maybe(3), Slow: maybe(3)}
	if s.Kind == "events" {
		s.Ends, s.IDs, s.Named = pick(r, "", "\r", "\r\n"), maybe(2), maybe(2) && p.presetName() == ""
		if maybe(3) {
			s.Retry = drawn(r, 10*time.Millisecond, 8*time.Second).Round(time.Millisecond)
		}
	}
	if maybe(2) {
		s.Every = drawn(r, 200*time.Millisecond, 10*time.Second)
	}
	if maybe(2) {
		s.Beat = drawn(r, time.Second, 20*time.Second)
	}
	if p.Probe == byCommand {
		s = &streaming{Kind: "lines", Replay: s.Replay, Every: s.Every, Slow: s.Slow}
	}
	p.Stream = s
	for i := range p.Ops {
		p.Ops[i].Method, p.Ops[i].Answer = "", ""
	}
}

// ofState returns a condition for the header field with the state, or for the events about the operation.
func (p *plan) ofState(condition string) string {
	if p.Head {
		return strings.ReplaceAll(condition, ".state", "$header.X-State")
	}
	if p.Stream != nil && p.Stream.Named {
		return `$event == "state" and (` + condition + ")"
	}
	return condition
}

// sendStream sends a stream as HTTP/1.1 has it.
func (p *process) sendStream(q *request, rep *reply, c io.Writer, in io.Reader) (inOrder bool) {
	gone := make(chan struct{})
	go func() {
		io.Copy(io.Discard, in)
		close(gone)
	}()
	put := func(text string) error {
		_, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(text), text)
		return err
	}
	head := "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nContent-Type: " + contentTypes[p.Stream.Kind] + "\r\n"
	if _, err := io.WriteString(c, head+strings.Join(append(rep.head, "", ""), "\r\n")); err != nil {
		return false
	}
	if inOrder = p.newSender(q, rep, put, gone).run(); inOrder {
		io.WriteString(c, "0\r\n\r\n")
	}
	return inOrder
}

// writeStream sends a stream as HTTP/2 has it.
func (p *process) writeStream(q *request, rep *reply, rw http.ResponseWriter) (inOrder bool) {
	rw.Header().Set("Content-Type", contentTypes[p.Stream.Kind])
	flush := http.NewResponseController(rw).Flush
	flush()
	return p.newSender(q, rep, func(text string) error {
		if _, err := io.WriteString(rw, text); err != nil {
			return err
		}
		return flush()
	}, q.Context().Done()).run()
}

// listen runs a program that prints lines, each of which is evaluated.
func (g program) listen(ctx context.Context, a poll.Attempt, q *request, rep *reply) status.Observation {
	defer g.after(q, rep, true)
	enough, stop := context.WithCancel(ctx)
	defer stop()
	line := ""
	g.newSender(q, rep, func(text string) error {
		if err := ctx.Err(); err != nil { // nobody reads any more
			return err
		}
		if line += text; strings.HasSuffix(line, "\n") {
			if a.Message(status.Observation{Kind: status.KindCommand, Body: []byte(line), Size: int64(len(line))}) {
				stop()
			}
			line = ""
		}
		return nil
	}, enough.Done()).run()
	return poll.Observe(ctx, nil, errors.New("the program has ended"))
}

// checkResumes: a stream is asked for with the ID of the last event that was delivered as a whole.
func (p *process) checkResumes(q *request) {
	have, want := q.Header.Get("Last-Event-ID"), p.lastIDs[q.key]
	p.saw["Last-Event-ID"] = p.saw["Last-Event-ID"] || have != ""
	isAnew := have == "" && p.Threshold+p.Errors+int(p.Steady+p.Healing) > 0 // its messages are to be sent again
	if p.Stream != nil && !isAnew && have != want && q.host == home && q.life != nil {
		p.blame("resumes", "%s was asked for with the ID %q, and that of the last event was %q", q.URL, have, want)
	}
}

// promptness is the longest time from a decisive response or message to the end of its wait.
const promptness = 10 * time.Millisecond

// checkPrompt: a decisive response or message ends the wait.
func checkPrompt(w *world, res *result) (exercised bool) {
	isBroken := len(w.Faults) > 0 && w.Threshold+int(w.Steady) > 1 // by an attempt that failed, in a row of messages
	isLed := func(f fault) bool { return slices.Contains([]string{"login", "elsewhere", "loop", "slash"}, f.Kind) }
	if w.List != nil || w.Line.Patience > 0 || isBroken || w.Stream == nil && (w.Steady > 0 || w.Alias || w.Unless || slices.ContainsFunc(w.Faults, isLed)) || w.saw["clock jumps"] || len(w.processes) > 1 && w.Caller != "step" || len(w.Kills) > 0 || w.isLine() && (len(w.Ops) > 1 || w.Line.Log == "slice") {
		return false
	}
	for _, l := range w.lives {
		end := res.At[fmt.Sprint(l.ID)]
		if end.IsZero() {
			end = res.End
		}
		at, decided := w.decisive(l)
		if late := end.Sub(at); decided && late > promptness {
			w.blame("prompt", "the end of %d was known %s after its message", l.ID, late)
		}
		exercised = exercised || decided
	}
	return exercised
}

// decisive returns the time of the decisive response or message.
func (w *world) decisive(l *life) (at time.Time, is bool) {
	row, since := 0, time.Time{}
	for _, s := range l.news() {
		if s.message == (w.Stream != nil) && s.honest && w.Errors == 0 && w.Healing == 0 && w.fails(s.doc) {
			return s.told, true
		}
		if row++; !w.isSuccess(s) {
			row = 0
		} else if row == 1 {
			since = s.at
		}
		if row >= max(1, w.Threshold) && s.at.Sub(since) >= w.Steady && s.message == (w.Stream != nil) {
			return s.told, true
		}
	}
	return at, false
}

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
