//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A server answers by writing to the connection whatever it likes.
type server struct {
	listener net.Listener
	address  string
	requests atomic.Int64
	answer   func(conn net.Conn, n int)
	mu       sync.Mutex
	open     map[net.Conn]bool
}

// serve starts a server on loopback. answer gets the number of the request, from
// 1; the connection is closed when it returns, so that each attempt has its own.
func serve(answer func(conn net.Conn, n int)) (*server, error) {
	s := &server{answer: answer, open: make(map[net.Conn]bool), address: "127.0.0.1:0"}
	return s, s.listen()
}

func (s *server) url() string { return "http://" + s.address + "/job" }

func (s *server) listen() error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.mu.Lock()
	s.listener, s.address = listener, listener.Addr().String()
	s.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.keep(conn, true)
			go s.attend(conn)
		}
	}()
	return nil
}

func (s *server) keep(conn net.Conn, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[conn] = true
	} else {
		delete(s.open, conn)
	}
}

func (s *server) attend(conn net.Conn) {
	defer s.keep(conn, false)
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	io.Copy(io.Discard, request.Body)
	s.answer(conn, int(s.requests.Add(1)))
}

// refuse makes the server unreachable for a while.
func (s *server) refuse(d time.Duration) {
	s.mu.Lock()
	s.listener.Close()
	s.mu.Unlock()
	time.AfterFunc(d, func() { s.listen() })
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener.Close()
	for conn := range s.open {
		conn.Close()
	}
}

// reply writes a whole answer.
func reply(w io.Writer, status, headers, body string) {
	fmt.Fprintf(w, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), headers, body)
}

const pending, done = `{"state":"pending"}`, `{"state":"done"}`

// zeros is so many times 16 MiB of zeros, compressed: gzip may consist of several
// members.
func zeros(times int) io.Reader {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	w.Write(make([]byte, 16<<20))
	w.Close()
	parts := make([]io.Reader, times)
	for i := range parts {
		parts[i] = bytes.NewReader(member.Bytes())
	}
	return io.MultiReader(parts...)
}
