package request

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// A safeError is an error whose message, words, holds no secrets. It wraps its cause, whose message may hold secrets.
type safeError struct {
	words string
	cause error
}

func (e *safeError) Error() string { return e.words }
func (e *safeError) Unwrap() error { return e.cause }

// fail returns a failure with the given kind and reason. words is the reason, and must hold no secrets. cause is the
// wrapped error, or nil.
func fail(kind status.FailureKind, words string, cause error) *status.Failure {
	f := &status.Failure{Kind: kind, Reason: words, Err: &safeError{words: words, cause: cause}}
	if errors.Is(cause, ErrUntrusted) {
		f.Hints = []status.Hint{{Kind: status.HintUntrusted}}
	}
	return f
}

// Hopeless returns the failure of a request that can never be sent. err explains why, and its message must hold no
// secrets.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), err) }

// cutOff returns the failure of an attempt that has ended because ctx is done. took is the duration of the attempt.
// unsent is true if the attempt never had a connection.
func cutOff(ctx context.Context, unsent bool, took time.Duration) *status.Failure {
	text := "timed out after " + words.Short(took)
	if unsent {
		text += " without a connection"
	}
	return meaning.Stopped(ctx, text)
}

// withoutResponse returns the result of a call that has no usable response: a response with a Failure, which holds no
// secrets. last is the call, err is the error of its request, and sent reports whether the server may have received
// the request.
func (c *client) withoutResponse(ctx context.Context, err error, sent bool, last call) *response {
	a := failed(nil, last)
	a.unsent = !sent
	if ctx.Err() != nil {
		a.Failure = cutOff(ctx, a.unsent, time.Since(last.began))
		if isHeld := last.at.url.Query().Has("wait") || strings.Contains(c.header.Get("Prefer"), "wait"); sent && isHeld {
			a.Failure.Hints = []status.Hint{{Kind: status.HintHeld}}
		}
		return a
	}
	f := failureOf(err, func(e error) string { return c.withoutSecrets(e, last.at.url) })
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		words, _, _ := strings.Cut(strings.TrimPrefix(f.Reason, "x509: "), " (possibly")
		f.Kind, f.Reason = status.FailureHopeless, "certificate not trusted: "+words
		f.Hints = []status.Hint{{Kind: status.HintTrust}}
	}
	refusal, refused := errors.AsType[connect.ProxyError](err)
	if refused {
		f.Kind, f.Reason = kindOf(refusal), refusal.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); refused || ok && op.Op == "proxyconnect" { // the proxy failed, not the server
		f.Reason = "the proxy: " + f.Reason
		if f.Class != status.ClassTimeout {
			f.Class = ""
		}
	}
	if len(last.redirects) > 0 {
		f.Reason += ", after a redirect to " + urlName(last.at.url)
	}
	f.Err = &safeError{words: f.Reason, cause: err}
	a.Failure = f
	return a
}

// innermost unwraps err repeatedly, and returns the last error in the chain. If err wraps no error, it returns err.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// quoted matches a quoted string. Errors quote parts of the response, which may hold secrets.
var quoted = words.Pattern(`"(?:[^"\\]|\\.)*"`)

// withoutSecrets returns the message of err without secrets. at is the URL of the request. The messages of net/http can
// contain the whole URL with its query, the password of a proxy, or bytes of the response.
func (c *client) withoutSecrets(err error, at *url.URL) string {
	text := err.Error()
	if _, ok := err.(textproto.ProtocolError); ok { // a line of the response follows the colon
		text, _, _ = strings.Cut(text, ":")
	}
	if _, why, ok := strings.Cut(text, "cannot retry err ["); ok { // net/http puts the cause in brackets
		text, _, _ = strings.Cut(why, "]")
	}
	return redact(quoted().ReplaceAllString(text, `"..."`), slices.Concat(c.secrets(), secretsOf(at)))
}

// knownErrors maps errors to failures. An error matches a row if it wraps one of errs, or if its message contains text,
// for errors that net/http does not export. words is the reason of the failure; if words is "", the error's message
// is the reason. class is the class of the failure. Numbers above 10000 are Windows error codes, which no other
// system uses.
var knownErrors = [...]struct {
	errs  []error
	text  string
	words string
	class string
}{
	{[]error{syscall.ECONNREFUSED, syscall.Errno(10061)}, "", "connection refused", status.ClassRefused},
	{[]error{syscall.ENOENT}, "", "no such socket", status.ClassRefused},
	{[]error{syscall.ETIMEDOUT, syscall.Errno(10060), os.ErrDeadlineExceeded}, "", "timed out", status.ClassTimeout},
	{[]error{io.EOF, io.ErrUnexpectedEOF}, "", "connection closed without a response", status.ClassReset},
	{[]error{syscall.ECONNRESET, syscall.Errno(10054), syscall.EPIPE, syscall.Errno(10058)}, "", "", status.ClassReset},
	{[]error{syscall.ECONNABORTED, syscall.Errno(10053), errSentAgain}, "", "", status.ClassReset},
	{nil, "server gave HTTP response to HTTPS client", notTLS, status.ClassTLS},
	{nil, "first record does not look like a TLS handshake", notTLS, status.ClassTLS},
	{nil, "tls: ", "", status.ClassTLS},
	{nil, "server closed idle connection", "", status.ClassReset},
	{nil, "transport connection broken", "", status.ClassReset},
	{nil, "received from peer", "", status.ClassReset},
	{nil, "GOAWAY", "", status.ClassReset},
}

const notTLS = "the server does not speak TLS on this port: for plain HTTP, write http://"

// failureOf returns the failure for err, without the field Err. If err joins the errors of several addresses,
// the error with the smallest weight (see the function weight) determines the failure. If that weight is 0 and
// other addresses have failed, too, the reason names the address of the determining error. text must return the
// message of an error without secrets.
func failureOf(err error, text func(error) string) *status.Failure {
	all := joinedErrors(err)
	decisive := slices.MinFunc(all, func(a, b error) int { return weight(a) - weight(b) })
	f := failureOfOne(decisive)
	f.Reason = cmp.Or(f.Reason, text(innermost(decisive)))
	address := addressOf(decisive)
	isOther := func(e error) bool { return addressOf(e) != "" && addressOf(e) != address }
	if weight(decisive) == 0 && address != "" && slices.ContainsFunc(all, isOther) {
		f.Reason = address + ": " + f.Reason
	}
	return f
}

// failureOfOne returns the failure for err, which is the error of a single address. The reason holds no secrets. It
// is "" if the message of err should serve as the reason.
func failureOfOne(err error) *status.Failure {
	f := &status.Failure{Kind: status.FailureTransient}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		f.Reason = "cannot look up " + e.Name
		if e.IsTimeout {
			f.Class = status.ClassTimeout
		}
		if e.IsNotFound {
			f.Reason, f.Class = "no such host "+e.Name, status.ClassDNS
		}
		return f
	}
	for _, m := range knownErrors {
		is := func(known error) bool { return errors.Is(err, known) }
		if slices.ContainsFunc(m.errs, is) || m.text != "" && strings.Contains(err.Error(), m.text) {
			f.Reason, f.Class = m.words, m.class
			break
		}
	}
	if own, ok := errors.AsType[*safeError](err); ok {
		f.Reason = own.words
	} else if e, ok := errors.AsType[net.Error](err); ok && f.Class == "" && e.Timeout() {
		f.Reason, f.Class = "timed out", status.ClassTimeout
	}
	return f
}

// joinedErrors returns all errors that err joins, at any depth. It returns only err if err joins no errors.
func joinedErrors(err error) (all []error) {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, joinedErrors(e)...)
	}
	return all
}

// weight ranks the errors of a host's addresses: the error with the smallest weight becomes the reason of the
// failure. The weight is 0, except in three cases:
//
//	1  a refused connection: a host counts as refused only if every address refused the connection
//	2  a name without addresses: the error of another name or address is more useful
//	3  an IPv6 address without a route from this machine: many machines have no IPv6
func weight(err error) int {
	if hasNoRoute(err) {
		return 3
	}
	return map[string]int{status.ClassRefused: 1, status.ClassDNS: 2}[failureOfOne(err).Class]
}

// hasNoRoute reports whether err means that this machine has no route to an IPv6 address. A router on the way may
// report the same error. To exclude that, hasNoRoute connects a UDP socket to the address: this sends no packet, so
// it fails only if the machine itself has no route.
func hasNoRoute(err error) bool {
	isLacking := func(err error) bool {
		return slices.ContainsFunc([]error{syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.ENETUNREACH,
			syscall.Errno(10047), syscall.Errno(10049), syscall.Errno(10051)}, // the same errors on Windows
			func(known error) bool { return errors.Is(err, known) })
	}
	if !isLacking(err) {
		return false
	}
	conn, err := net.Dial("udp6", addressOf(err))
	if err == nil {
		conn.Close()
	}
	return isLacking(err)
}

// addressOf returns the remote address of the connection that failed with err. It returns "" if err names no address.
func addressOf(err error) string {
	for op, ok := errors.AsType[*net.OpError](err); ok; op, ok = errors.AsType[*net.OpError](op.Err) {
		if op.Addr != nil {
			return op.Addr.String()
		}
	}
	return ""
}

// kindOf returns the kind of failure if a proxy has rejected a connection with the HTTP status e. The kind is
// FailureThrottled for 429, FailureHopeless for 403, 407 and redirects, and FailureTransient for any other
// status.
func kindOf(e connect.ProxyError) status.FailureKind {
	switch {
	case e == http.StatusTooManyRequests:
		return status.FailureThrottled
	case e == http.StatusProxyAuthRequired, e == http.StatusForbidden, e >= 300 && e < 400:
		return status.FailureHopeless
	}
	return status.FailureTransient
}
