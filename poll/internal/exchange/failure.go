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

// Hopeless is the failure of a request that cannot be sent.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), nil) }

// NoConnection is the failure of an attempt to connect that ended with err.
func NoConnection(ctx context.Context, err error, began time.Time) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, "", true, time.Since(began))
	}
	return fail(status.FailureTransient, cmp.Or(networkWords(err), "cannot connect"), err)
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
	unsent, whose := true, ""
	if e, ok := errors.AsType[*sendError](err); ok {
		unsent = !e.left
		if e.atProxy {
			whose = "the proxy: "
		}
	}
	a := failed(nil, redirects)
	a.unsent = unsent
	if ctx.Err() != nil {
		a.Failure = cutOff(ctx, whose, unsent, took)
		return a
	}
	kind, words := status.FailureTransient, ""
	distrusted := certificateWords(err)
	switch e, refused := errors.AsType[*proxyError](err); {
	case distrusted != "":
		kind, words = status.FailureHopeless, distrusted
	case refused:
		kind, words = e.kind(), e.Error()
		a.Hint, a.Exhausted, a.Remarks = e.answer.Hint, e.answer.Exhausted, e.answer.Remarks
	default:
		words = c.explain(err, last.at.url)
	}
	words = whose + words
	if len(redirects) > 0 {
		words += ", after a redirect to " + urlName(last.at.url)
	}
	a.Failure = fail(kind, words, err)
	if distrusted != "" {
		a.Failure.Advice.Code = status.AdviceTrust
	}
	return a
}

// explain says what an error of net/http means. The words of net/http can hold the URL
// with its query, the proxy's password, or bytes of the answer.
func (c *client) explain(err error, at *url.URL) string {
	words := cmp.Or(networkWords(err), protocolWords(err))
	if words == "" {
		innermost := err
		if e, ok := errors.AsType[*url.Error](err); ok {
			innermost = e.Err // without the request that it names
		}
		secrets := redactor{secrets: slices.Clip(c.secrets.secrets), renewed: c.secrets.renewed}
		secrets.addURL(at)
		words = "request failed: " + secrets.clean(innermost.Error())
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		words = "the proxy: " + words
	}
	return words
}

// neverConnected reports whether err came before there was a connection.
func neverConnected(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// networkWords says what went wrong below HTTP, "" if it is not known.
func networkWords(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case e.IsNotFound:
			return "no such host " + e.Name
		case e.IsTimeout:
			return "timed out looking up " + e.Name
		}
		return "cannot look up " + e.Name
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return "the address or its port is malformed"
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
			return known.words
		}
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "timed out"
	}
	return ""
}

// protocolWords says what went wrong in TLS or HTTP, "" if it is not known.
func protocolWords(err error) string {
	if e, ok := errors.AsType[tls.AlertError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[plainError](err); ok {
		return e.Error()
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the server does not speak TLS on this port"
	}
	if isBrokenCoding(err) {
		return "the answer's compression is broken"
	}
	if e, ok := errors.AsType[*sendError](err); ok && e.begun && errors.Is(err, io.ErrUnexpectedEOF) {
		if e.want > 0 {
			return fmt.Sprintf("connection closed after %d of %d bytes of the answer", e.got, e.want)
		}
		return fmt.Sprintf("the answer breaks off after %d bytes", e.got)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "connection closed without an answer"
	}
	return textWords(err.Error())
}

// http2Errors tells errors of HTTP/2 by their text. A group matches the name of the error
// code, if there is one.
var http2Errors = []struct {
	pattern func() *regexp.Regexp
	words   string
}{
	{lazily(`stream error: stream ID \d+; ([A-Z0-9_]*)(?s:.*); received from peer`), "the server reset the HTTP/2 stream"},
	{lazily(`stream error: stream ID ()`), "the HTTP/2 answer is malformed"},
	{lazily(`connection error: ([A-Z0-9_]*)`), "the HTTP/2 connection is broken"},
	{lazily(`GOAWAY(?s:.*?)ErrCode.([A-Z0-9_]*)`), "the server closed the HTTP/2 connection"},
	{lazily(`graceful shutdown GOAWAY()|client conn not usable()`), string(afterGoAway)},
}

// textWords recognizes errors by their text where net/http has no type for them. It does
// not repeat what a server wrote beside the code of an HTTP/2 error.
func textWords(text string) string {
	for _, known := range http2Errors {
		switch match := known.pattern().FindStringSubmatch(text); {
		case match == nil:
		case match[1] == "":
			return known.words
		default:
			return known.words + " (" + match[1] + ")"
		}
	}
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
			return known.words
		}
	}
	return ""
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
