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

// A safeError is an error whose words are free of secrets. It keeps the cause for
// [errors.Is].
type safeError struct {
	words string
	cause error
}

func (e *safeError) Error() string { return e.words }
func (e *safeError) Unwrap() error { return e.cause }

func fail(kind status.FailureKind, words string, cause error) *status.Failure {
	return &status.Failure{Kind: kind, Reason: words, Err: &safeError{words: words, cause: cause}}
}

// Hopeless is the failure of a request that cannot be sent.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), err) }

// cutOff is the failure of an attempt that was ended from outside.
func cutOff(ctx context.Context, unsent bool, took time.Duration) *status.Failure {
	text := "timed out after " + words.Short(took)
	if unsent {
		text += " without a connection"
	}
	return meaning.Stopped(ctx, text)
}

// unanswered says why there is no answer to a call.
func (c *client) unanswered(ctx context.Context, err error, sent bool, last call) *answer {
	a := failed(nil, last)
	a.unsent = !sent
	if ctx.Err() != nil {
		a.Failure = cutOff(ctx, a.unsent, time.Since(last.began))
		if isHeld := last.at.url.Query().Has("wait") || strings.Contains(c.header.Get("Prefer"), "wait"); sent && isHeld {
			a.Failure.Advice.Code = status.AdviceHeld
		}
		return a
	}
	f := meaningOf(err, func(e error) string { return c.clean(e, last.at.url) })
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		words, _, _ := strings.Cut(strings.TrimPrefix(f.Reason, "x509: "), " (possibly")
		f.Kind, f.Reason, f.Advice.Code = status.FailureHopeless, "certificate not trusted: "+words, status.AdviceTrust
	}
	refusal, refused := errors.AsType[connect.ProxyError](err)
	if refused {
		f.Kind, f.Reason = kindOf(refusal), refusal.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); refused || ok && op.Op == "proxyconnect" { // which says nothing of the server
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

// innermost returns the error that all others wrap.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// quoted matches the quotes of an answer in an error.
var quoted = words.Pattern(`"(?:[^"\\]|\\.)*"`)

// clean returns the text of an error of net/http. That can hold the URL with its query, the
// proxy's password, or bytes of the answer.
func (c *client) clean(err error, at *url.URL) string {
	text := err.Error()
	if _, ok := err.(textproto.ProtocolError); ok { // a line of the answer follows
		text, _, _ = strings.Cut(text, ":")
	}
	if _, why, ok := strings.Cut(text, "cannot retry err ["); ok { // as it should be
		text, _, _ = strings.Cut(why, "]")
	}
	return redact(quoted().ReplaceAllString(text, `"..."`), slices.Concat(c.secrets(), secretsOf(at)))
}

// meanings are those of errors, by their type or, where net/http has none, by a part of their
// text. The text of one without words is shown as it is. The numbers above 10000
// are those of Windows, which no other system has.
var meanings = [...]struct {
	errs  []error
	text  string
	words string
	class string
}{
	{[]error{syscall.ECONNREFUSED, syscall.Errno(10061)}, "", "connection refused", status.ClassRefused},
	{[]error{syscall.ENOENT}, "", "no such socket", status.ClassRefused},
	{[]error{syscall.ETIMEDOUT, syscall.Errno(10060), os.ErrDeadlineExceeded}, "", "timed out", status.ClassTimeout},
	{[]error{io.EOF, io.ErrUnexpectedEOF}, "", "connection closed without an answer", status.ClassReset},
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

const notTLS = "the server does not speak TLS on this port"

// meaningOf returns the failure that an error means, without Err. Of several addresses the failure of
// one decides, and its Reason names that address, unless all of them refused. text returns the text of an error.
func meaningOf(err error, text func(error) string) *status.Failure {
	all := leaves(err)
	decisive := slices.MinFunc(all, func(a, b error) int { return weight(a) - weight(b) })
	f := meaningOfOne(decisive)
	f.Reason = cmp.Or(f.Reason, text(innermost(decisive)))
	address := addressOf(decisive)
	isOther := func(e error) bool { return addressOf(e) != "" && addressOf(e) != address }
	if weight(decisive) == 0 && address != "" && slices.ContainsFunc(all, isOther) {
		f.Reason = address + ": " + f.Reason
	}
	return f
}

// meaningOfOne returns the failure that an error of one address means. Its Reason is free of secrets,
// or "" if the error's own text says it.
func meaningOfOne(err error) *status.Failure {
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
	for _, m := range meanings {
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

// kindOf says what the refusal of a proxy means: too much to do, its policy, or its own trouble.
func kindOf(e connect.ProxyError) status.FailureKind {
	switch {
	case e == http.StatusTooManyRequests:
		return status.FailureThrottled
	case e == http.StatusProxyAuthRequired, e == http.StatusForbidden, e >= 300 && e < 400:
		return status.FailureHopeless
	}
	return status.FailureTransient
}
