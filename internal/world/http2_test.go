package world

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

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
