//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

func servers() []torment {
	return []torment{
		{"server never answers", neverAnswers},
		{"server drips a byte a second", drips},
		{"server closes half-way", closesHalfWay},
		{"server lies about Content-Length", liesAboutLength},
		{"server sends 10 MB of [", brackets},
		{"server sends 1 GB of gzip", gzipBomb},
		{"server floods, 2 GB", floodsBody},
		{"server sends 100,000 headers", manyHeaders},
		{"server sends 64 MB of headers", endlessHeaders},
		{"server alternates 200 500 429 refused", alternates},
		{"server sends Retry-After junk", junkHints},
		{"server redirects in a circle", circles},
		{"server speaks no HTTP", noHTTP},
		{"body with escapes and commands", hostileBody},
	}
}

// against runs the program with a server that answers so.
func (s *suite) against(answer func(conn net.Conn, n int), flags string, more ...string) (ended, error) {
	server, err := serve(answer)
	if err != nil {
		return ended{}, err
	}
	defer server.close()
	return s.wait(wait{args: append(args(flags, more...), server.url())})
}

func neverAnswers(s *suite) (string, error) {
	e, err := s.against(func(conn net.Conn, _ int) { io.Copy(io.Discard, conn) },
		"--immediate --interval 10ms --attempt-timeout 100ms --timeout 1s")
	if err != nil {
		return "", err
	}
	err = e.expect(124, "timed out after 10")
	if e.took > 3*time.Second {
		err = errors.Join(err, errors.New("too late"))
	}
	return fmt.Sprintf("exit %d after %s", e.code, e.took.Round(10*time.Millisecond)), err
}

func drips(s *suite) (string, error) {
	drip := func(conn net.Conn, _ int) {
		for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") {
			if _, err := conn.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
	e, err := s.against(drip, "--immediate --attempt-timeout 1500ms --max-attempts 1")
	if err != nil {
		return "", err
	}
	body := func(conn net.Conn, _ int) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
		for {
			if _, err := io.WriteString(conn, "["); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
	e2, err := s.against(body, "--immediate --attempt-timeout 1500ms --max-attempts 1")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("given up after %s in the head, %s in the body", e.took.Round(10*time.Millisecond), e2.took.Round(10*time.Millisecond)),
		errors.Join(e.expect(3, "timed out after 1.5"), e2.expect(3, "timed out after 1.5"))
}

func closesHalfWay(s *suite) (string, error) {
	e, err := s.against(func(conn net.Conn, n int) {
		whole := "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 16\r\n\r\n" + done
		io.WriteString(conn, whole[:min(n*4, len(whole))])
	}, "--interval 1ms --json --timeout 20s --until", `.state=="done"`)
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	return fmt.Sprintf("cut at %d places: NOT_READY; %s at last", o.Attempts-1, o.Status), errors.Join(err, e.expect(0))
}

func liesAboutLength(s *suite) (string, error) {
	e, err := s.against(func(conn net.Conn, n int) {
		length := []string{"100000", "4", "-1", "1e3", "99999999999999999999", "16\r\nContent-Length: 17"}
		if n > len(length) {
			reply(conn, "200 OK", "", done)
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %s\r\n\r\n%s", length[n-1], done)
	}, "--interval 1ms --json --timeout 20s --until", `.state=="done"`)
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	if err == nil && o.Attempts != 7 {
		err = fmt.Errorf("%d attempts, not 7", o.Attempts)
	}
	return fmt.Sprintf("too long, too short, negative, no number, two: NOT_READY; %s at last", o.Status), errors.Join(err, e.expect(0))
}

func brackets(s *suite) (string, error) {
	body := strings.Repeat("[", 10<<20)
	e, err := s.against(func(conn net.Conn, _ int) { reply(conn, "200 OK", "", body) },
		"--immediate --max-attempts 1 --until", `.state=="done"`, "--until", `..a.b|c`, "--error-if", `any(.x, .y==1)`)
	if err != nil {
		return "", err
	}
	if e.code == 2 { // only the language says what it takes
		e, err = s.against(func(conn net.Conn, _ int) { reply(conn, "200 OK", "", body) },
			"--immediate --max-attempts 1 --until", `.state=="done"`)
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("NOT_READY after %s, %s resident", e.took.Round(10*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(3, "NOT_READY"), e.within(80))
}

func gzipBomb(s *suite) (string, error) {
	e, err := s.against(func(conn net.Conn, _ int) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n")
		io.Copy(conn, zeros(64))
	}, "--immediate --max-attempts 1 --max-body 1MiB")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d after %s, %s resident", e.code, e.took.Round(10*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(1, "--max-body"), e.within(24))
}

func floodsBody(s *suite) (string, error) {
	block := make([]byte, 1<<20)
	e, err := s.against(func(conn net.Conn, _ int) {
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", int64(2<<30))
		for range 2 << 10 {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}, "--immediate --max-attempts 1 --max-body 1MiB")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d after %s, %s resident", e.code, e.took.Round(10*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(1, "--max-body"), e.within(24))
}

// manyHeaders begins with a number of them that can be read.
func manyHeaders(s *suite) (string, error) {
	var headers strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&headers, "X-Header-%d: %d\r\n", i, i)
	}
	whole := headers.String()
	some, _, _ := strings.Cut(whole, "X-Header-10000:")
	e, err := s.against(func(conn net.Conn, n int) {
		if n < 10 {
			reply(conn, "200 OK", whole, done)
			return
		}
		reply(conn, "200 OK", some, done)
	}, "--interval 1ms --timeout 60s -v --until", `.state=="done"`)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("9 times NOT_READY, SUCCESS with 10,000, %s resident", mebi(e.peak)),
		errors.Join(e.expect(0, "the header of the answer is too long"), e.within(40))
}

func endlessHeaders(s *suite) (string, error) {
	line := "X-Header: " + strings.Repeat("x", 1000) + "\r\n"
	e, err := s.against(func(conn net.Conn, _ int) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for range 64 << 10 {
			if _, err := io.WriteString(conn, line); err != nil {
				return
			}
		}
		io.WriteString(conn, "\r\n")
	}, "--immediate --max-attempts 1")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("NOT_READY, %s resident", mebi(e.peak)), errors.Join(e.expect(3, "the header of the answer is too long"), e.within(40))
}

func alternates(s *suite) (string, error) {
	var server *server
	server, err := serve(func(conn net.Conn, n int) {
		switch {
		case n > 12:
			reply(conn, "200 OK", "", done)
		case n%3 == 1:
			reply(conn, "200 OK", "", pending)
		case n%3 == 2:
			reply(conn, "500 Internal Server Error", "", done)
		default:
			server.refuse(100 * time.Millisecond)
			reply(conn, "429 Too Many Requests", "Retry-After: 0\r\n", "")
		}
	})
	if err != nil {
		return "", err
	}
	defer server.close()
	e, err := s.run(args("--interval 10ms --json --timeout 30s --until", `.state=="done"`, server.url())...)
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	seen := o.seen()
	for _, want := range []string{"NOT_READY", "500", "THROTTLED", "429", "refused", "SUCCESS"} {
		if !strings.Contains(seen, want) {
			err = errors.Join(err, fmt.Errorf("%s was never seen", want))
		}
	}
	return fmt.Sprintf("%s at attempt %d", o.Status, o.Attempts), errors.Join(err, e.expect(0))
}

func junkHints(s *suite) (string, error) {
	hints := []string{"-1", "1e99", "Sun, 06 Nov 1994 08:49:37 GMT", "soon", "", "0x10", "\x80", strings.Repeat("9", 400), "NaN", "Inf"}
	e, err := s.against(func(conn net.Conn, n int) {
		if n > len(hints) {
			reply(conn, "200 OK", "", done)
			return
		}
		reply(conn, "500 Oops", "Retry-After: "+hints[n-1]+"\r\nRateLimit: "+hints[n-1]+"\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: "+hints[n-1]+"\r\n", "")
	}, "--interval 1ms --timeout 3s --json")
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	if e.code == 124 || e.code == 4 { // a hint that was believed ends in the last look
		err = errors.Join(err, fmt.Errorf("%d attempts: %s", o.Attempts, o.seen()))
	}
	return fmt.Sprintf("%s after %d attempts", o.Status, o.Attempts), errors.Join(err, e.expect(0))
}

func circles(s *suite) (string, error) {
	e, err := s.against(func(conn net.Conn, _ int) { reply(conn, "302 Found", "Location: /job\r\n", "") }, "--immediate --timeout 20s")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d after %s", e.code, e.took.Round(10*time.Millisecond)), e.expect(1, "redirect")
}

func noHTTP(s *suite) (string, error) {
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(s.rand.Uint32())
	}
	e, err := s.against(func(conn net.Conn, n int) {
		if n > 20 {
			reply(conn, "200 OK", "", done)
			return
		}
		conn.Write(noise[n*100:])
	}, "--interval 1ms --timeout 20s --json")
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	return fmt.Sprintf("20 times noise: NOT_READY; %s at last", o.Status), errors.Join(err, e.expect(0))
}

// hostileBody is shown on a terminal and in a log, but not as it is; on stdout
// it is, byte for byte.
func hostileBody(s *suite) (string, error) {
	const hostile = "\x1b[2J\x1b]0;title\a\x9b31m\n::error::owned\n  ::add-mask::x\n##[command]x\n\r\x00\xff\u202egnp.exe\n::stop-commands::x\n"
	answer := func(conn net.Conn, n int) {
		if n == 1 {
			reply(conn, "500 Oops", "", hostile)
			return
		}
		reply(conn, "200 OK", "", hostile)
	}
	e, err := s.against(answer, "--interval 1ms -v --color always")
	if err != nil {
		return "", err
	}
	err = e.expect(0)
	if e.stdout != hostile {
		err = errors.Join(err, fmt.Errorf("stdout is %q", e.stdout))
	}
	failed, bad := s.against(answer, "--interval 1ms -v --color never --max-attempts 2 --error-if", "$attempt==2")
	if bad != nil {
		return "", bad
	}
	err = errors.Join(err, failed.expect(1), clean(e.stderr, "\x1b[2J", "\x1b]0", "\u202e"), clean(failed.stderr, "\x1b"), clean(failed.stderr, "\u202e"))
	t, bad := openTerminal()
	if bad != nil {
		return "stdout byte for byte; in a log, clean", err
	}
	defer t.close()
	server, bad := serve(answer)
	if bad != nil {
		return "", bad
	}
	defer server.close()
	null, bad := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if bad != nil {
		return "", bad
	}
	defer null.Close()
	_, bad = s.wait(wait{args: args("--interval 1ms --max-attempts 2 --error-if $attempt==2 --progress live", server.url()), stdout: t.slave, stderr: t.slave, attr: t.attr()})
	return "stdout byte for byte; in a log and on a terminal, clean", errors.Join(err, bad, clean(t.shown(), "\x1b[2J", "\x1b]0", "\u202e", "\x9b"))
}

// clean is what is wrong with words that were made of an answer.
func clean(text string, never ...string) error {
	for _, bad := range append(never, "\x00", "\a") {
		if strings.Contains(text, bad) {
			return fmt.Errorf("%q in %q", bad, text)
		}
	}
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") || strings.HasPrefix(line, "##[") {
			return fmt.Errorf("a workflow command in %q", line)
		}
	}
	return nil
}
