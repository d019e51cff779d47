package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"github.com/pollcli/poll/poll/internal/cause"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// A saidError is an error in words that are free of secrets. The cause is still
// there for [errors.Is].
type saidError struct {
	words string
	cause error
}

func (e *saidError) Error() string { return e.words }
func (e *saidError) Unwrap() error { return e.cause }

func fail(kind status.FailureKind, words string, cause error) *status.Failure {
	return &status.Failure{Kind: kind, Reason: words, Err: &saidError{words: words, cause: cause}}
}

// Hopeless is the failure of a request that cannot be sent.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), nil) }

// lost says in words why there is no answer to a call.
func (c *client) lost(ctx context.Context, err error, at call, hops []hop, took time.Duration) *lost {
	l := &lost{hops: hops}
	var whose string
	if e, ok := errors.AsType[*sendError](err); ok {
		l.left = e.left
		if e.atProxy {
			whose = "the proxy: "
		}
	}
	if ctx.Err() != nil {
		l.failure = Cut(ctx, whose, l.left, took)
		return l
	}
	if e, ok := errors.AsType[*proxyError](err); ok {
		l.advice = e.advice
	}
	kind, words := c.explain(err, at)
	words = whose + words
	if len(hops) > 0 {
		words += ", after a redirect to " + urlName(at.at.url)
	}
	l.failure = fail(kind, words, err)
	if _, distrusted := certificateWords(err); distrusted {
		l.failure.Advice.Code = status.AdviceTrust
	}
	return l
}

// cut says how an attempt was ended from outside, and at whose place, "" for the
// server's.
func Cut(ctx context.Context, whose string, left bool, took time.Duration) *status.Failure {
	why := context.Cause(ctx)
	if !errors.Is(why, cause.ErrAttemptTimeout) {
		return cause.Stopped(ctx)
	}
	text := whose + "timed out after " + words.Short(took)
	if !left {
		text += " without a connection"
	}
	return fail(status.FailureTransient, text, why)
}

// explain says what an error of net/http means. net/http's own words can hold
// the URL with its query, the proxy's password, or bytes of the answer.
func (c *client) explain(err error, at call) (status.FailureKind, string) {
	if words, ok := certificateWords(err); ok {
		return status.FailureHopeless, words
	}
	if e, ok := errors.AsType[*proxyError](err); ok {
		return e.kind(), e.Error()
	}
	words, ok := networkWords(err)
	if !ok {
		words, ok = protocolWords(err)
	}
	if !ok {
		secrets := redactor{secrets: c.secrets.secrets}
		secrets.addURL(at.at.url)
		words = "request failed: " + secrets.clean(innermost(err).Error())
	}
	if op, is := errors.AsType[*net.OpError](err); is && op.Op == "proxyconnect" {
		words = "the proxy: " + words
	}
	return status.FailureTransient, words
}

// innermost returns the cause of an error of net/http without the request that
// it names.
func innermost(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func tooManyRedirects(hops []hop, to place) *lost {
	words := fmt.Sprintf("redirect loop: more than %d redirects, the last to %s", len(hops), urlName(to.url))
	return &lost{failure: fail(status.FailureHopeless, words, nil), left: true, hops: hops}
}

func notFollowed(hops []hop, h hop, err error) *lost {
	words := fmt.Sprintf("redirected by %d to %s, which was not followed: it %s", h.code, urlName(h.to.url), err)
	return &lost{failure: fail(status.FailureHopeless, words, err), left: true, hops: hops}
}

// neverConnected reports whether err came before there was a connection.
func neverConnected(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// networkWords says what went wrong below HTTP.
func networkWords(err error) (string, bool) {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return dnsWords(e), true
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return "the address is malformed, or its port is none", true
	}
	for _, known := range []struct {
		errno syscall.Errno
		words string
	}{
		{syscall.ECONNREFUSED, "connection refused"},
		{syscall.ECONNRESET, "connection reset"},
		{syscall.EPIPE, "connection closed by the server"},
		{syscall.EHOSTUNREACH, "no route to host"},
		{syscall.ENETUNREACH, "network unreachable"},
		{syscall.ETIMEDOUT, "timed out"},
		{syscall.ECONNABORTED, "connection aborted"},
		{syscall.ENOENT, "no such socket"},
		{syscall.EACCES, "permission denied"},
	} {
		if errors.Is(err, known.errno) {
			return known.words, true
		}
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "timed out", true
	}
	return "", false
}

func dnsWords(e *net.DNSError) string {
	switch {
	case e.IsNotFound:
		return "no such host " + e.Name
	case e.IsTimeout:
		return "timed out looking up " + e.Name
	}
	return "cannot look up " + e.Name
}

// protocolWords says what went wrong in TLS or HTTP.
func protocolWords(err error) (string, bool) {
	if e, ok := errors.AsType[tls.AlertError](err); ok {
		return e.Error(), true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS on this port", true
	}
	if e, ok := errors.AsType[unusable](err); ok {
		return e.Error(), true
	}
	if brokenCoding(err) {
		return "the answer's compression is broken", true
	}
	if e, ok := errors.AsType[*sendError](err); ok && e.begun && errors.Is(err, io.ErrUnexpectedEOF) {
		return halfAnswer(e), true
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "connection closed without an answer", true
	}
	if r, ok := errors.AsType[resend](err); ok {
		return r.Error(), true
	}
	if words, ok := http2Words(err.Error()); ok {
		return words, true
	}
	return textWords(err.Error())
}

func halfAnswer(e *sendError) string {
	if e.want > 0 {
		return fmt.Sprintf("connection closed after %d of %d bytes of the answer", e.got, e.want)
	}
	return fmt.Sprintf("the answer breaks off after %d bytes", e.got)
}

// textWords knows errors by their text where net/http has no type for them.
func textWords(text string) (string, bool) {
	for _, known := range []struct{ text, words string }{
		{"server gave HTTP response to HTTPS client", "the server does not speak TLS on this port"},
		{"response headers exceeded", "the header of the answer is too long"},
		{"malformed HTTP", "what came is not an HTTP answer"},
		{"malformed MIME header", "the header of the answer is malformed"},
		{"bad Content-Length", "the header of the answer is malformed"},
		{"multiple Content-Length", "the header of the answer is malformed"},
		{"more than declared", "the answer is longer than its header says"},
		{"chunk", "the answer's chunks are malformed"},
		{"server closed idle connection", "connection closed by the server"},
		{"cannot rewind body", "connection closed by the server"},
		{"transport connection broken", "connection broken"},
		{"http2: ", "the HTTP/2 connection broke"},
		{"tls: handshake failure", "TLS handshake failed"},
	} {
		if strings.Contains(text, known.text) {
			return known.words, true
		}
	}
	return "", false
}

// http2Words knows the errors of net/http that say what the server did over
// HTTP/2. What the server wrote beside the code is not repeated.
func http2Words(text string) (string, bool) {
	if _, reset, ok := strings.Cut(text, "stream error: stream ID "); ok {
		_, code, _ := strings.Cut(reset, "; ")
		if strings.Contains(code, "; received from peer") {
			return "the server reset the HTTP/2 stream" + errorCode(code), true
		}
		return "the HTTP/2 answer is malformed", true
	}
	if _, code, ok := strings.Cut(text, "connection error: "); ok {
		return "the HTTP/2 connection is broken" + errorCode(code), true
	}
	if _, code, ok := strings.Cut(text, "ErrCode"); ok && strings.Contains(text, "GOAWAY") {
		return "the server closed the HTTP/2 connection" + errorCode(code[1:]), true
	}
	if strings.Contains(text, "graceful shutdown GOAWAY") || strings.Contains(text, "client conn not usable") {
		return afterGoAway.Error(), true
	}
	return "", false
}

// errorCode returns the HTTP/2 error code that text begins with, in parentheses;
// "" for one without a name.
func errorCode(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return ""
	}
	return " (" + text[:end] + ")"
}

// certificateWords says why the server's certificate is not trusted.
func certificateWords(err error) (string, bool) {
	var words string
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		words = "it is not for host " + e.Host
	} else if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		words = invalidWords(e)
	} else if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		words = "it is signed by an unknown authority"
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		words = "it cannot be verified"
	} else {
		return "", false
	}
	return "certificate not trusted: " + words, true
}

func invalidWords(e x509.CertificateInvalidError) string {
	switch {
	case e.Reason != x509.Expired || e.Cert == nil:
		return "it is invalid"
	case time.Now().Before(e.Cert.NotBefore):
		return "it is not valid before " + e.Cert.NotBefore.UTC().Format(time.DateOnly)
	}
	return "it expired on " + e.Cert.NotAfter.UTC().Format(time.DateOnly)
}

// NoConnection is the failure of a connection that ended with err.
func NoConnection(err error) *status.Failure {
	words, ok := networkWords(err)
	if !ok {
		words = "cannot connect"
	}
	return fail(status.FailureTransient, words, err)
}
