package exchange

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

// A safeError is an error whose words are free of secrets. It keeps the cause for
// [errors.Is].
type safeError struct {
	words string
	cause error
}

func (e *safeError) Error() string { return e.words }
func (e *safeError) Unwrap() error { return e.cause }

// A plainError is an error of this package, whose words are free of secrets.
type plainError string

func (e plainError) Error() string { return string(e) }

func fail(kind status.FailureKind, words string, cause error) *status.Failure {
	return &status.Failure{Kind: kind, Reason: words, Err: &safeError{words: words, cause: cause}}
}

// A diagnosis says what went wrong, in words that are free of secrets. Without words it is
// not known.
type diagnosis struct {
	words string
	class status.FailureClass
}

func (d diagnosis) failure(kind status.FailureKind, cause error) *status.Failure {
	f := fail(kind, d.words, cause)
	f.Class = d.class
	return f
}

// ofProxy is the diagnosis of a failure on the way to the proxy, which says nothing of the
// server.
func (d diagnosis) ofProxy() diagnosis {
	d.words = "the proxy: " + d.words
	if d.class != status.FailureTimeout {
		d.class = status.FailureOther
	}
	return d
}

// Hopeless is the failure of a request that cannot be sent.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), nil) }

// NoConnection is the failure of an attempt to connect that ended with err.
func NoConnection(ctx context.Context, err error, began time.Time) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, "", true, time.Since(began))
	}
	d := network(err)
	d.words = cmp.Or(d.words, "cannot connect")
	return d.failure(status.FailureTransient, err)
}

// cutOff is the failure of an attempt that was ended from outside. whose is "the proxy: "
// if a proxy was waited for.
func cutOff(ctx context.Context, whose string, unsent bool, took time.Duration) *status.Failure {
	text := whose + "timed out after " + words.Short(took)
	if unsent {
		text += " without a connection"
	}
	return cause.Failure(ctx, text)
}

// A sendError is a request without a complete answer.
type sendError struct {
	err       error
	left      bool  // the server may have seen the request
	atProxy   bool  // it failed while a proxy was to connect
	begun     bool  // the answer had begun, and reading its body failed
	got, want int64 // bytes of the body, read and announced; want is -1 if unknown
}

func (e *sendError) Error() string { return e.err.Error() }
func (e *sendError) Unwrap() error { return e.err }

// unanswered says in words why there is no answer to a call.
func (c *client) unanswered(
	ctx context.Context, err error, last call, redirects []redirect, took time.Duration,
) *answer {
	sent, _ := errors.AsType[*sendError](err)
	unsent, atProxy := sent == nil || !sent.left, sent != nil && sent.atProxy
	a := failed(nil, redirects)
	a.unsent = unsent
	if ctx.Err() != nil {
		whose := ""
		if atProxy {
			whose = "the proxy: "
		}
		a.Failure = cutOff(ctx, whose, unsent, took)
		return a
	}
	kind, d := status.FailureTransient, diagnosis{}
	distrusted := certificateWords(err)
	switch e, refused := errors.AsType[*proxyError](err); {
	case distrusted != "":
		kind, d = status.FailureHopeless, diagnosis{distrusted, status.FailureTLS}
	case refused:
		kind, d.words = e.kind(), e.Error()
		a.Hint, a.Exhausted, a.Remarks = e.answer.Hint, e.answer.Exhausted, e.answer.Remarks
	default:
		d = c.explain(err, last.at.url)
	}
	if atProxy {
		d = d.ofProxy()
	}
	if len(redirects) > 0 {
		d.words += ", after a redirect to " + urlName(last.at.url)
	}
	a.Failure = d.failure(kind, err)
	if distrusted != "" {
		a.Failure.Advice.Code = status.AdviceTrust
	}
	return a
}

// explain says what an error of net/http means. The words of net/http can hold the URL
// with its query, the proxy's password, or bytes of the answer.
func (c *client) explain(err error, at *url.URL) diagnosis {
	d := network(err)
	if d.words == "" {
		d = protocol(err)
	}
	if d.words == "" {
		innermost := err
		if e, ok := errors.AsType[*url.Error](err); ok {
			innermost = e.Err // without the request that it names
		}
		secrets := redactor{secrets: slices.Clip(c.secrets.secrets), renewed: c.secrets.renewed}
		secrets.addURL(at)
		d.words = "request failed: " + secrets.clean(innermost.Error())
		if strings.Contains(innermost.Error(), "tls: ") { // crypto/tls has no types for most of its errors
			d.class = status.FailureTLS
		}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		d = d.ofProxy()
	}
	return d
}

// neverConnected reports whether err came before there was a connection.
func neverConnected(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// network says what went wrong below HTTP.
func network(err error) diagnosis {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case e.IsNotFound:
			return diagnosis{"no such host " + e.Name, status.FailureDNS}
		case e.IsTimeout:
			return diagnosis{"timed out looking up " + e.Name, status.FailureTimeout}
		}
		return diagnosis{words: "cannot look up " + e.Name}
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return diagnosis{words: "the address or its port is malformed"}
	}
	for _, known := range []struct {
		errno   syscall.Errno
		winsock syscall.Errno // which no other system has, and which Windows has instead
		words   string
		class   status.FailureClass
	}{
		{syscall.ECONNREFUSED, 10061, "connection refused", status.FailureRefused},
		{syscall.ECONNRESET, 10054, "connection reset", status.FailureReset},
		{syscall.EPIPE, 10058, "connection closed by the server", status.FailureReset},
		{syscall.EHOSTUNREACH, 10065, "no route to host", ""},
		{syscall.ENETUNREACH, 10051, "network unreachable", ""},
		{syscall.ETIMEDOUT, 10060, "timed out", status.FailureTimeout},
		{syscall.ECONNABORTED, 10053, "connection aborted", status.FailureReset},
		{syscall.ENOENT, 0, "no such socket", status.FailureRefused},
		{syscall.EACCES, 10013, "permission denied", ""},
	} {
		if errors.Is(err, known.errno) || errors.Is(err, known.winsock) {
			return diagnosis{known.words, known.class}
		}
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return diagnosis{"timed out", status.FailureTimeout}
	}
	return diagnosis{}
}

// protocol says what went wrong in TLS or HTTP.
func protocol(err error) diagnosis {
	if e, ok := errors.AsType[tls.AlertError](err); ok {
		return diagnosis{e.Error(), status.FailureTLS}
	}
	if e, ok := errors.AsType[plainError](err); ok {
		return diagnosis{words: e.Error()}
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return diagnosis{"the server does not speak TLS on this port", status.FailureTLS}
	}
	if isBrokenCoding(err) {
		return diagnosis{words: "the answer's compression is broken"}
	}
	if e, ok := errors.AsType[*sendError](err); ok && e.begun && errors.Is(err, io.ErrUnexpectedEOF) {
		words := fmt.Sprintf("the answer breaks off after %d bytes", e.got)
		if e.want > 0 {
			words = fmt.Sprintf("connection closed after %d of %d bytes of the answer", e.got, e.want)
		}
		return diagnosis{words, status.FailureReset}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return diagnosis{"connection closed without an answer", status.FailureReset}
	}
	return untyped(err.Error())
}

// http2Errors tells errors of HTTP/2 by their text. A group matches the name of the error
// code, if there is one.
var http2Errors = []struct {
	pattern func() *regexp.Regexp
	words   string
	class   status.FailureClass
}{
	{lazily(`stream error: stream ID \d+; ([A-Z0-9_]*)(?s:.*); received from peer`), "the server reset the HTTP/2 stream", status.FailureReset},
	{lazily(`stream error: stream ID ()`), "the HTTP/2 answer is malformed", ""},
	{lazily(`connection error: ([A-Z0-9_]*)`), "the HTTP/2 connection is broken", ""},
	{lazily(`GOAWAY(?s:.*?)ErrCode.([A-Z0-9_]*)`), "the server closed the HTTP/2 connection", status.FailureReset},
	{lazily(`graceful shutdown GOAWAY()|client conn not usable()`), string(afterGoAway), ""},
}

// untyped recognizes errors by their text where net/http has no type for them. It does
// not repeat what a server wrote beside the code of an HTTP/2 error.
func untyped(text string) diagnosis {
	for _, known := range http2Errors {
		switch match := known.pattern().FindStringSubmatch(text); {
		case match == nil:
		case match[1] == "":
			return diagnosis{known.words, known.class}
		default:
			return diagnosis{known.words + " (" + match[1] + ")", known.class}
		}
	}
	for _, known := range []struct {
		text, words string
		class       status.FailureClass
	}{
		{"server gave HTTP response to HTTPS client", "the server does not speak TLS on this port", status.FailureTLS},
		{"response headers exceeded", "the header of the answer is too long", ""},
		{"malformed HTTP", "what came is not an HTTP answer", ""},
		{"malformed MIME header", "the header of the answer is malformed", ""},
		{"bad Content-Length", "the header of the answer is malformed", ""},
		{"multiple Content-Length", "the header of the answer is malformed", ""},
		{"more than declared", "the answer is longer than its header says", ""},
		{"chunk", "the answer's chunks are malformed", ""},
		{"server closed idle connection", "connection closed by the server", status.FailureReset},
		{"cannot rewind body", "connection closed by the server", status.FailureReset},
		{"transport connection broken", "connection broken", status.FailureReset},
		{"http2: ", "the HTTP/2 connection broke", ""},
		{"tls: handshake failure", "TLS handshake failed", status.FailureTLS},
	} {
		if strings.Contains(text, known.text) {
			return diagnosis{known.words, known.class}
		}
	}
	return diagnosis{}
}

// certificateWords says why the server's certificate is not trusted, "" if that
// is not what went wrong.
func certificateWords(err error) string {
	const distrusted = "certificate not trusted: it "
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return distrusted + "is not for host " + e.Host
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		switch {
		case e.Reason != x509.Expired || e.Cert == nil:
			return distrusted + "is invalid"
		case time.Now().Before(e.Cert.NotBefore):
			return distrusted + "is not valid before " + e.Cert.NotBefore.UTC().Format(time.DateOnly)
		}
		return distrusted + "expired on " + e.Cert.NotAfter.UTC().Format(time.DateOnly)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return distrusted + "is signed by an unknown authority"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return distrusted + "cannot be verified"
	}
	return ""
}
