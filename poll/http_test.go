package poll

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
)

func TestHTTPCheck(t *testing.T) {
	const at = "https://api.example.com/"
	for _, test := range []struct {
		name string
		h    HTTP
		want string // "" for no error
	}{
		{"good", HTTP{URL: at}, ""},
		{"no URL", HTTP{}, "no URL"},
		{"no scheme", HTTP{URL: "api.example.com/s3cret"}, "scheme"},
		{"another scheme", HTTP{URL: "ftp://api.example.com/?s3cret"}, "scheme"},
		{"no host", HTTP{URL: "https:///s3cret"}, "host"},
		{"malformed", HTTP{URL: "https://me:s3c%ret@host/"}, "malformed"},
		{"method", HTTP{URL: at, Method: "GE T"}, "method"},
		{"header name", HTTP{URL: at, Header: http.Header{"a b": {"x"}}}, "header name"},
		{"line break in a header", HTTP{URL: at, Header: http.Header{"X": {"s3cret\r\nY: z"}}}, "line break"},
		{"control character in a header", HTTP{URL: at, Header: http.Header{"X": {"s3cret\x01"}}}, "control character"},
		{"tab and UTF-8 in a header", HTTP{URL: at, Header: http.Header{"X": {"a\té"}}}, ""},
		{"blank in the host", HTTP{URL: at, Header: http.Header{"host": {"a s3cret"}}}, "Host is not a host"},
		{"path in the host", HTTP{URL: at, Header: http.Header{"Host": {"a/s3cret"}}}, "Host is not a host"},
		{"host and port", HTTP{URL: at, Header: http.Header{"Host": {"[::1]:80"}}}, ""},
		{"limit", HTTP{URL: at, MaxBody: -1}, "limit"},
		{"next page", HTTP{URL: at, Next: "?key=s3cret"}, "the same on every page"},
		{"expression of the next page", HTTP{URL: at, Next: ".a =="}, "column 6"},
	} {
		err := test.h.Plan().Invalid
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: have error %v, want one with %q", test.name, err, test.want)
		}
		o := test.h.Check(t.Context(), Attempt{Number: 1})
		if o.Failure == nil || o.Failure.Kind != status.FailureHopeless {
			t.Errorf("%s: have failure %v, want one for good", test.name, o.Failure)
		}
	}
}

// TestRedirectsForEver meets servers that redirect without an end.
func TestRedirectsForEver(t *testing.T) {
	for _, test := range []struct {
		location string
		limit    int
		requests int
		reason   string // "" for the redirect itself
	}{
		{"/again", math.MaxInt, 1000 + 1, "redirect loop: more than 1000 redirects"},
		{"/again", 1000 + 1, 1000 + 1, "redirect loop: more than 1000 redirects"},
		{"/again", 3, 4, "redirect loop: more than 3 redirects"},
		{strings.Repeat("a", 1000) + "/", math.MaxInt, 16<<10/1001 + 1, ""}, // each URL is longer than the last
	} {
		requests := 0
		o := HTTP{URL: "http://h/", MaxRedirects: test.limit, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			requests++
			resp := response(302, strings.NewReader(""))
			resp.Header.Set("Location", test.location)
			return resp, nil
		})}.Check(t.Context(), Attempt{Number: 1})
		reason := ""
		if o.Failure != nil {
			reason = o.Failure.Reason
		}
		if requests != test.requests || !strings.HasPrefix(reason, test.reason) || (test.reason == "") != (reason == "") {
			t.Errorf("%.10s up to %d: have %d requests, %.100q", test.location, test.limit, requests, reason)
		}
	}
}

// roundTrip makes a transport of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(code int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1}
}

// The test returns errors of all kinds that contain each secret of the request.
func TestHTTP_errorsContainNoSecrets(t *testing.T) {
	const secretURL = "https://login-s3cret:pass-s3cret@api.example.com/path?key=query-s3cret#fragment-s3cret"
	dirty := fmt.Errorf("Get %q: header-s3cret, basic-s3cret, query-s3cret of fragment-s3cret", secretURL)
	opaque := errors.New("login-s3cret and pass-s3cret, proxy http://u:proxy-s3cret@proxy/?x")
	for _, cause := range []error{
		dirty,
		opaque,
		&url.Error{Op: "Get", URL: secretURL, Err: opaque},
		&net.OpError{Op: "proxyconnect", Net: "tcp", Err: dirty},
		&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		fmt.Errorf("malformed HTTP response %q", "header-s3cret"),
		fmt.Errorf("http2: server sent GOAWAY, debug=%q", "query-s3cret"),
	} {
		h := HTTP{
			URL:       secretURL,
			Header:    http.Header{"X-Key": {"header-s3cret"}},
			User:      url.UserPassword("other-s3cret", "basic-s3cret"),
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, cause }),
		}
		for _, h.Method = range []string{"GET", "POST"} {
			o := h.Check(t.Context(), Attempt{Number: 1})
			words := fmt.Sprintln(o.Hints, o.Failure.Reason, o.Failure.Error(), o.Failure.Err.Error(), h.Target())
			if strings.Contains(words, "s3cret") {
				t.Errorf("%v:\n%s", cause, words)
			}
			if !errors.Is(o.Failure, cause) {
				t.Errorf("%v is lost", cause)
			}
			op, _ := cause.(*net.OpError)
			left := op == nil || op.Op == "read" // and may have started something
			if have := o.Failure.Kind == status.FailureMayHaveStarted; have != (left && h.Method == "POST") {
				t.Errorf("%s, %v: may have started: %t", h.Method, cause, have)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	for _, test := range []struct {
		err   error
		want  string
		class string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "connection refused", status.ClassRefused},
		{&net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}, "the proxy: connection refused", ""},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "connection reset by peer", status.ClassReset},
		{&net.OpError{Op: "dial", Err: syscall.ENETUNREACH}, "network is unreachable", ""},
		{&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, "timed out", status.ClassTimeout},
		{&net.OpError{Op: "dial", Err: syscall.Errno(10061)}, "connection refused", status.ClassRefused}, // as Windows has it
		{&net.OpError{Op: "read", Err: syscall.Errno(10054)}, syscall.Errno(10054).Error(), status.ClassReset},
		{&net.DNSError{Name: "api.example.com", IsNotFound: true}, "no such host api.example.com", status.ClassDNS},
		{&net.DNSError{Name: "api.example.com", IsTimeout: true}, "cannot look up api.example.com", status.ClassTimeout},
		{&net.DNSError{Name: "api.example.com", IsTemporary: true}, "cannot look up api.example.com", ""},
		{io.EOF, "connection closed without a response", status.ClassReset},
		{errors.New("http2: client connection lost"), "http2: client connection lost", ""},
		{errors.New("stream error: stream ID 3; INTERNAL_ERROR; received from peer"), "stream error: stream ID 3; INTERNAL_ERROR; received from peer", status.ClassReset},
		{errors.New("stream error: stream ID 3; unknown error code 0x22; received from peer"), "stream error: stream ID 3; unknown error code 0x22; received from peer", status.ClassReset},
		{errors.New("stream error: stream ID 3; PROTOCOL_ERROR; response header too long"), "stream error: stream ID 3; PROTOCOL_ERROR; response header too long", ""},
		{errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"ErrCode\""), `http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug="..."`, status.ClassReset},
		{errors.New("http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM"), "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM", status.ClassReset},
		{errors.New("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written; define Request.GetBody to avoid this error"),
			"http2: Transport received Server's graceful shutdown GOAWAY", status.ClassReset},
		{fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", errors.New(`malformed HTTP response "SSH-2.0 \"x"`)), `malformed HTTP response "..."`, status.ClassReset},
		{textproto.ProtocolError("malformed MIME header line: what a server wrote"), "malformed MIME header line", ""},
		{&net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "dial", Err: &net.AddrError{Err: "invalid port", Addr: "99999"}}},
			"the proxy: address 99999: invalid port", ""},
		{errors.New("boom"), "boom", ""},
		{&net.OpError{Op: "proxyconnect", Err: &net.DNSError{Name: "proxy", IsNotFound: true}}, "the proxy: no such host proxy", ""},
		{&net.OpError{Op: "proxyconnect", Err: syscall.ETIMEDOUT}, "the proxy: timed out", status.ClassTimeout},
		{&net.OpError{Op: "dial", Net: "unix", Err: syscall.ENOENT}, "no such socket", status.ClassRefused},
		{errors.New("http: server gave HTTP response to HTTPS client"), "the server does not speak TLS on this port: for plain HTTP, write http://", status.ClassTLS},
		{errors.New("tls: no cipher suite supported"), "tls: no cipher suite supported", status.ClassTLS},
	} {
		h := HTTP{
			URL:       "https://api.example.com/",
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, test.err }),
		}
		o := h.Check(t.Context(), Attempt{Number: 1})
		if o.Failure.Reason != test.want || o.Failure.Kind != status.FailureTransient || o.Failure.Class != test.class {
			t.Errorf("%v: have %q (%s), want %q (%s)", test.err, o.Failure.Reason, o.Failure.Class, test.want, test.class)
		}
	}
}

// TestCompleteStaysComplete ends the attempt as the last byte is read.
func TestCompleteStaysComplete(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	body := io.MultiReader(strings.NewReader("whole"), readFunc(func([]byte) (int, error) {
		cancel(ErrDeadline)
		return 0, io.EOF
	}))
	h := HTTP{URL: "http://api.example.com/", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return response(200, body), nil
	})}
	o := h.Check(ctx, Attempt{Number: 1})
	if ctx.Err() == nil {
		t.Fatal("the attempt was not ended")
	}
	if o.Failure != nil || string(o.Body) != "whole" {
		t.Errorf("have %q, %v", o.Body, o.Failure)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// encodedBy returns a transport to a server that answers every request so.
func encodedBy(t *testing.T, code int, coding, body string) http.RoundTripper {
	transport := must(connect.Options{Proxy: "direct"}.Transport())
	transport.DialContext = pipeTo(func(conn net.Conn) {
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", code, coding, len(body), body)
	})
	return transport
}

// What net/http decodes is decoded, and no answer in another coding is taken for the
// document.
func TestEncodings(t *testing.T) {
	const plain = `{"state":"done"}`
	const unasked = "the response has an encoding that the request did not accept"
	for _, test := range []struct {
		name, header, body string
		want               string // the body, or the reason why there is none
		code               int    // 0 is 200
		asks               string // a header of the user
	}{
		{name: "none", body: plain, want: plain},
		{name: "identity", header: "identity", body: plain, want: plain},
		{name: "gzip", header: "gzip", body: gzipped(plain), want: plain},
		{name: "brotli", header: "br", body: "x", want: unasked},
		{name: "doubled", header: "gzip, gzip", body: gzipped(gzipped(plain)), want: unasked},
		{name: "unknown", header: "s3cret", body: "x", want: unasked},
		{name: "an error's", header: "br", body: "x", code: 404, want: "x"},
		{name: "empty", header: "br", want: ""},
		{name: "asked for", header: "br", body: "x", asks: "Accept-Encoding: br", want: "x"},
		{name: "asked for gzip", header: "gzip", body: gzipped(plain), asks: "Accept-Encoding: gzip", want: gzipped(plain)},
		{name: "none asked for", header: "gzip", body: gzipped(plain), asks: "Accept-Encoding", want: unasked},
		{name: "part of it", header: "gzip", body: "x", code: 206, asks: "Range: bytes=0-0", want: "x"},
		{name: "no gzip", header: "gzip", body: "what is it?", want: "gzip: invalid header"},
		{name: "broken off", header: "gzip", body: gzipped(plain)[:20], want: "the response ends early, after"},
		{name: "a part", body: plain, code: 206, want: "HTTP 206 Partial Content, but the request was for the whole"},
		{name: "a part that was asked for", body: plain, code: 206, asks: "Range: bytes=0-15", want: plain},
	} {
		h := HTTP{URL: "http://api.example.com/", Header: http.Header{}, Transport: encodedBy(t, max(test.code, 200), test.header, test.body)}
		if name, value, ok := strings.Cut(test.asks, ": "); ok {
			h.Header.Set(name, value)
		} else if name != "" {
			h.Header[name] = nil
		}
		o := h.Check(t.Context(), Attempt{Number: 1})
		if o.Failure == nil && string(o.Body) != test.want {
			t.Errorf("%s: have %q, want %q", test.name, o.Body, test.want)
		}
		if coding := o.Header.Get("Content-Encoding"); string(o.Body) != test.body && coding != "" {
			t.Errorf("%s: is decoded, and still said to be %s", test.name, coding)
		}
		if o.Failure != nil && (!strings.HasPrefix(o.Failure.Reason, test.want) || test.want == "" || test.want == plain) {
			t.Errorf("%s: have %q, want %q", test.name, o.Failure.Reason, test.want)
		}
	}
}

// A few bytes that are much more are not read to their end.
func TestEncodedBomb(t *testing.T) {
	bomb := encodedBy(t, 200, "gzip", gzipped(strings.Repeat("0", 10_000_000)))
	o := HTTP{URL: "http://api.example.com/", MaxBody: 1000, Transport: bomb}.Check(t.Context(), Attempt{Number: 1})
	if o.Failure != nil || o.Size != 1001 {
		t.Errorf("have %d bytes, %v", o.Size, o.Failure)
	}
}

// blocked is a body that takes no notice of its context.
type blocked struct{ closed chan struct{} }

func (b *blocked) Read([]byte) (int, error) {
	<-b.closed
	return 0, net.ErrClosed
}

func (b *blocked) Close() error {
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	return nil
}

// TestBodyEnds waits for bodies that never end by themselves.
func TestBodyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := HTTP{URL: "http://api.example.com/", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &blocked{make(chan struct{})}}, nil
		})}
		p := Poller{Probe: h, Immediate: true, AttemptTimeout: 2 * time.Second, Timeout: 5 * time.Second}
		outcome, _ := p.Run(t.Context())
		if outcome.Ending != TimedOut || outcome.Elapsed > 5*time.Second {
			t.Errorf("have %s after %s", outcome.Ending, outcome.Elapsed)
		}
	})
}

func TestTCP(t *testing.T) {
	for want, dial := range map[string]func(context.Context) (net.Conn, error){
		"":                   func(context.Context) (net.Conn, error) { return &net.TCPConn{}, nil },
		"connection refused": func(context.Context) (net.Conn, error) { return nil, syscall.ECONNREFUSED },
		"no route to host": func(context.Context) (net.Conn, error) {
			return nil, errors.Join(syscall.ECONNREFUSED, syscall.EHOSTUNREACH)
		},
		"timed out after 5s without a connection": func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, ErrAttemptTimeout)
			defer cancel()
			probe := TCP{Address: "db:5432", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
			o := probe.Check(ctx, Attempt{Number: 1})
			if o.Kind != status.KindTCP || o.Good() != (want == "") {
				t.Fatalf("have %+v", o)
			}
			if f := o.Failure; f != nil && (f.Kind != status.FailureTransient || f.Reason != want) {
				t.Errorf("have %+v, want %s", f, want)
			}
		})
	}
}

func TestTCPCheck(t *testing.T) {
	for _, test := range []struct {
		address string
		ok      bool
	}{
		{"db:5432", true}, {"[::1]:80", true}, {"db:https", true},
		{"db", false}, {":80", false}, {"db:", false}, {"db:99999", false}, {"db:nope", false}, {"", false},
		{"bücher.test:80", false}, {"xn--bcher-kva.test:80", true},
	} {
		if err := (TCP{Address: test.address}).Plan().Invalid; (err == nil) != test.ok {
			t.Errorf("%q: %v", test.address, err)
		}
	}
}
