package poll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/status"
)

// roundTrip makes a transport of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(code int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1}
}

// TestErrorsSayNoSecrets gives errors of all sorts that hold every secret of
// the request.
func TestErrorsSayNoSecrets(t *testing.T) {
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
			words := strings.Join(append(o.Remarks, o.Failure.Reason, o.Failure.Error(), o.Failure.Err.Error(), h.Target()), "\n")
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
		{io.EOF, "connection closed without an answer", status.ClassReset},
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
		{errors.New("http: server gave HTTP response to HTTPS client"), "the server does not speak TLS on this port", status.ClassTLS},
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
