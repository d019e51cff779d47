package world

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Secrets that nothing but home may see.
const (
	token  = "T0ken-S3cr3t"
	body   = "B0dy-S3cr3t"
	cookie = "C00kie-S3cr3t"

	password = "P4ss-S3cr3t"
	basic    = "bWU6UDRzcy1TM2NyM3Q=" // me:password

	renewed      = "-2"     // behind the token that is valid in the end
	otherAccount = "-other" // behind the token of another account

	stray = "stray-cookie" // of another origin, or for who was led home by it
)

var secrets = []string{token, body, cookie, password, basic}

// A process is a run that may be killed: from then on nothing of it reaches a server or the world.
type process struct {
	*world
	conns   []net.Conn
	lastIDs map[string]string      // of the last events that came as a whole, by key
	retries map[string]time.Time   // when a stream may be asked for again, by key
	resets  map[string]time.Time   // when a connection was reset, by the key of the request: net/http sends a GET again at once
	pages   map[string][]*listPage // of the look at a list that is under way, by key
	began   time.Time
	dead    bool
	stop    context.CancelCauseFunc
}

// A kill ends a process at a moment of its own time, or at a request, before it is processed or
// before it is answered.
type kill struct {
	Run    int           `json:",omitzero"` // of which process, from 0
	At     time.Duration `json:",omitzero"`
	Key    string        `json:",omitzero"`
	N      int           `json:",omitzero"`
	Before bool          `json:",omitzero"`
	Soft   bool          `json:",omitzero"` // a signal, so that it ends in order
}

var errKilled = errors.New("killed")

// newProcess begins the process of a run.
func (w *world) newProcess(run int) (p *process, ctx context.Context, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p = &process{world: w, pages: make(map[string][]*listPage), lastIDs: make(map[string]string), retries: make(map[string]time.Time), resets: make(map[string]time.Time), began: time.Now()}
	ctx, p.stop = context.WithCancelCause(context.WithValue(context.Background(), processKey{}, p))
	w.processes = append(w.processes, p)
	for _, l := range w.lives {
		l.loops = 0
	}
	timer := time.NewTimer(time.Hour)
	for _, k := range w.Kills {
		if k.Run == run && k.Key == "" {
			timer = time.AfterFunc(k.At, func() { p.kill(k) })
		}
	}
	return p, ctx, func() {
		timer.Stop()
		p.stop(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		p.close()
	}
}

func (p *process) close() {
	for _, c := range p.conns {
		c.Close()
	}
}

// kill kills a process.
func (p *process) kill(k kill) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell("killed %+v", k)
	p.troubled = time.Now().Add(3 * time.Second) // until which nobody looks
	if p.saw["kill by signal"] = k.Soft; !k.Soft {
		p.saw["kill"] = true
		if p.onKill != nil {
			p.onKill()
		}
		p.dead = true
		p.cuts++
		p.close()
	}
	p.stop(errKilled)
}

// dial connects a process to a server.
func (p *process) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if err := p.find(ctx, address); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address)
	switch isNumber := net.ParseIP(host) != nil; {
	case host == tcpHost, isNumber && p.Probe == byTCP:
		return p.connect(ctx, port)
	case isNumber:
		address = home
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, f := p.count("dial")
	if p.dead || f != nil {
		p.saw["fault connection"], p.troubled = true, time.Now()
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	ours, theirs := net.Pipe()
	p.conns = append(p.conns, theirs)
	if p.HTTP2 {
		go p.serveHTTP2(address, theirs)
	} else {
		go p.serve(address, theirs)
	}
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
		q, rep := p.take(host, r)
		if rep == nil || !p.send(q, rep, c, in) || p.Names != nil {
			return
		}
	}
}

// take takes a request, and returns the reply, or nil if the process was killed.
func (p *process) take(host string, r *http.Request) (*request, *reply) {
	sent, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	q := p.read(host, r)
	p.eavesdrop(q, string(sent))
	p.checkResumes(q)
	p.mu.Unlock()
	return q, p.receive(q)
}

// receive has a request processed, after some time on the way. It returns nil if the process was
// killed meanwhile.
func (p *process) receive(q *request) *reply {
	if p.isKilledAt(q, true) {
		return nil
	}
	time.Sleep(drawn(p.dice(q.key+" way", q.n), time.Millisecond, 50*time.Millisecond))
	if p.Lag > 0 && time.Since(p.world.began) > 10*time.Second {
		time.Sleep(p.Lag)
	}
	p.mu.Lock()
	if p.saw["slower"] = p.Lag > 0; p.dead {
		p.mu.Unlock()
		return nil
	}
	p.answered = time.Now()
	p.patience(q)
	rep := p.answer(q)
	p.tell("%s %s%s -> %s", q.Method, strings.TrimSuffix(q.host, ":80"), q.URL, rep)
	p.mu.Unlock()
	if p.isKilledAt(q, false) {
		return nil
	}
	return rep
}

// isKilledAt kills the process if its time has come.
func (p *process) isKilledAt(q *request, before bool) bool {
	for _, k := range p.Kills {
		if k.Key == q.key && k.N == q.n && k.Before == before {
			p.kill(k)
			return true
		}
	}
	return p.isDead()
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// send sends a reply, and reports whether the connection can be used further.
func (p *process) send(q *request, rep *reply, c net.Conn, in io.Reader) bool {
	time.Sleep(rep.late)
	if rep.streams && !rep.hang && !rep.reset && !rep.garbage {
		p.after(q, rep, p.sendStream(q, rep, c, in))
		return false
	}
	text := rep.bytes()
	switch {
	case rep.hang:
		io.Copy(io.Discard, in) // until the client gives up
		text = ""
	case rep.reset:
		text = ""
	}
	err := error(nil)
	for ; rep.dribble > 0 && len(text) > 40 && err == nil; time.Sleep(rep.dribble) {
		_, err = io.WriteString(c, text[:40])
		text = text[40:]
	}
	if err == nil && text != "" {
		_, err = io.WriteString(c, text)
	}
	isWhole := err == nil && !rep.hang && !rep.reset && rep.cut == 0 && !rep.garbage
	p.after(q, rep, isWhole)
	return isWhole
}

// bytes returns a reply as HTTP/1.1 has it.
func (rep *reply) bytes() string {
	if rep.garbage {
		return "HTTP/1.1 2OO OK\r\n\r\n{}"
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
	case rep.chunked: // without the end of the chunk
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(sent)+1, sent)
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
		if name, _, _ := strings.Cut(line, ":"); name == "Retry-After" || name == "Location" || name == "Link" {
			text += ", " + strings.TrimSpace(line)
		}
	}
	if !rep.honest && rep.body != "" {
		text += fmt.Sprintf(" %.60q", rep.body)
	}
	return text
}

// An onlyConn is a listener to which one connection comes.
type onlyConn struct {
	net.Conn
	accepted sync.Once
	closing  sync.Once
	closed   chan struct{}
}

func (c *onlyConn) Accept() (conn net.Conn, err error) {
	if c.accepted.Do(func() { conn = c }); conn != nil {
		return conn, nil
	}
	<-c.closed
	return nil, net.ErrClosed
}

func (c *onlyConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *onlyConn) Addr() net.Addr { return c.LocalAddr() }

// serveHTTP2 answers the requests of a connection in HTTP/2.
func (p *process) serveHTTP2(host string, c net.Conn) {
	s := http.Server{Protocols: http2, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		q, rep := p.take(host, r)
		if rep == nil || !p.write(q, rep, rw) {
			panic(http.ErrAbortHandler) // which resets the stream
		}
	})}
	s.Serve(&onlyConn{Conn: c, closed: make(chan struct{})})
}

// http2 is HTTP/2 without encryption.
var http2 = func() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}()

// write sends a reply, and reports whether that was all of it.
func (p *process) write(q *request, rep *reply, rw http.ResponseWriter) (isWhole bool) {
	defer func() { p.after(q, rep, isWhole) }()
	if time.Sleep(rep.late); rep.hang {
		<-q.Context().Done()
	}
	if rep.hang || rep.reset || rep.garbage {
		return false
	}
	if rep.streams {
		return p.writeStream(q, rep, rw)
	}
	if rep.early {
		rw.WriteHeader(http.StatusEarlyHints)
	}
	rw.Header()["Date"] = nil // of another clock
	for _, line := range rep.head {
		for one := range strings.SplitSeq(line, "\r\n") {
			name, value, _ := strings.Cut(one, ": ")
			rw.Header().Add(name, value)
		}
	}
	rw.WriteHeader(rep.code)
	text, flush := rep.body, http.NewResponseController(rw).Flush
	if rep.cut > 0 {
		text = text[:min(rep.cut, max(0, len(text)-1))]
	}
	for ; rep.dribble > 0 && len(text) > 40 && flush() == nil; time.Sleep(rep.dribble) {
		io.WriteString(rw, text[:40])
		text = text[40:]
	}
	_, err := io.WriteString(rw, text)
	flush()
	return rep.cut == 0 && q.Context().Err() == nil && (err == nil || text == "")
}
