package world

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// Secrets that nothing but home may see.
const (
	token  = "T0ken-S3cr3t"
	body   = "B0dy-S3cr3t"
	cookie = "C00kie-S3cr3t"
)

// A process is a run that may be killed: from then on nothing of it reaches a server or the world.
type process struct {
	w     *world
	conns []net.Conn
	dead  bool
	kill  func() // once
	began time.Time
}

// A kill ends a process at a moment of its own time, or at a request: before it is processed, or
// after that and before it is answered.
type kill struct {
	Run    int // of which process, from 0
	At     time.Duration
	Key    string
	N      int
	Before bool
	Soft   bool // a signal, so that it ends in order
	Torn   bool // what was not synced is lost
}

func (w *world) process(stop context.CancelCauseFunc) *process {
	p := &process{w: w, began: time.Now()}
	p.kill = func() {
		if w.onKill != nil {
			w.onKill()
		}
		p.dead = true
		w.cuts++
		w.troubled = time.Now().Add(3 * time.Second) // until which nobody looks
		for _, c := range p.conns {
			c.Close()
		}
		stop(errKilled)
	}
	w.processes = append(w.processes, p)
	return p
}

// close ends what is left of a network.
func (w *world) close() {
	for _, p := range w.processes {
		for _, c := range p.conns {
			c.Close()
		}
	}
}

// dial connects a process to a server.
func (p *process) dial(ctx context.Context, _, address string) (net.Conn, error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked["dial"]++
	_, bad := w.faults["dial"][w.asked["dial"]]
	if p.dead || bad {
		if bad {
			w.saw["fault connection"], w.troubled = true, time.Now()
		}
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	ours, theirs := net.Pipe()
	p.conns = append(p.conns, theirs)
	go p.serve(address, theirs)
	return ours, nil
}

// serve answers the requests of a connection.
func (p *process) serve(host string, c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		sent, _ := io.ReadAll(r.Body)
		q, rep := p.receive(host, r, string(sent))
		if q == nil || !p.send(q, rep, c, in) {
			return
		}
	}
}

// receive has a request processed, after some time on the way. It returns nil if the process was
// killed meanwhile.
func (p *process) receive(host string, r *http.Request, sent string) (*request, *reply) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return nil, nil
	}
	q := w.read(host, r)
	w.eavesdrop(q, sent)
	if q.starts {
		q.life.flying++
	}
	if p.killedAt(q, true) {
		return nil, nil
	}
	w.mu.Unlock()
	time.Sleep(drawn(w.dice(q.key+" way", q.n), time.Millisecond, 50*time.Millisecond))
	w.mu.Lock()
	if p.dead {
		return nil, nil
	}
	w.patience(p, q)
	rep := w.answer(q)
	w.tell("%s %s%s -> %s", r.Method, strings.TrimSuffix(host, ":80"), r.URL, rep)
	if p.killedAt(q, false) {
		return nil, nil
	}
	return q, rep
}

// killedAt kills the process if its time has come.
func (p *process) killedAt(q *request, before bool) bool {
	for _, k := range p.w.plan.Kills {
		if k.Key == q.key && k.N == q.n && k.Before == before && p == p.w.processes[len(p.w.processes)-1] {
			p.w.tell("killed at a request")
			p.w.saw["kill at a request"] = true
			p.kill()
			return true
		}
	}
	return false
}

// send sends a reply, and reports whether the connection can be used further.
func (p *process) send(q *request, rep *reply, c net.Conn, in io.Reader) bool {
	w := p.w
	switch {
	case rep.hang:
		io.Copy(io.Discard, in) // until the client gives up
		w.after(q, rep, p, false)
		return false
	case rep.reset:
		c.Close()
		w.after(q, rep, p, false)
		return false
	}
	if rep.late > 0 {
		time.Sleep(rep.late)
	}
	text, whole := rep.bytes(q.Method), true
	if rep.cut > 0 {
		whole = false
	}
	err := write(c, text, rep.dribble)
	w.after(q, rep, p, err == nil && whole && !rep.garbage)
	return err == nil && whole && !rep.garbage
}

// write writes a text, a few bytes at a time if there is a pause between them.
func write(c net.Conn, text string, pause time.Duration) error {
	for pause > 0 && len(text) > 40 {
		if _, err := io.WriteString(c, text[:40]); err != nil {
			return err
		}
		text = text[40:]
		time.Sleep(pause)
	}
	_, err := io.WriteString(c, text)
	return err
}

// bytes returns a reply as HTTP/1.1 has it.
func (rep *reply) bytes(method string) string {
	if rep.garbage {
		return "HTTP/1.1 2OO OK\r\n\r\n{\"state\":\"done\"}"
	}
	var b strings.Builder
	if rep.early {
		b.WriteString("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
	}
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", rep.code, http.StatusText(rep.code))
	for _, line := range rep.head {
		b.WriteString(line + "\r\n")
	}
	sent := rep.body
	if rep.cut > 0 && len(sent) > 0 {
		sent = sent[:min(rep.cut, len(sent)-1)]
	}
	switch {
	case rep.code == 204 || rep.code == 304:
		b.WriteString("\r\n")
	case rep.chunked:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(sent), sent)
		if rep.cut == 0 {
			b.WriteString("0\r\n\r\n")
		}
	case rep.cut > 0:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", max(1, len(rep.body)), sent)
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(sent), sent)
	}
	return b.String()
}

func (rep *reply) String() string {
	text := fmt.Sprintf("%d %s", rep.code, rep.what)
	for _, line := range rep.head {
		if strings.HasPrefix(line, "Retry") || strings.HasPrefix(line, "Loc") || strings.HasPrefix(line, "Link") {
			text += ", " + strings.TrimSpace(line)
		}
	}
	if !rep.honest && rep.body != "" {
		text += fmt.Sprintf(" %.60q", rep.body)
	}
	return text
}
