package request

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

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

// A brokenOff is an answer whose body could not be read to its end.
type brokenOff struct {
	err       error
	got, want int64 // bytes of the body, read and announced; want is -1 if unknown
}

func (e *brokenOff) Error() string { return e.err.Error() }
func (e *brokenOff) Unwrap() error { return e.err }

func fail(kind status.FailureKind, words string, cause error) *status.Failure {
	return &status.Failure{Kind: kind, Reason: words, Err: &safeError{words: words, cause: cause}}
}

// Hopeless is the failure of a request that cannot be sent.
func Hopeless(err error) *status.Failure { return fail(status.FailureHopeless, err.Error(), nil) }

// NoConnection is the failure of an attempt to connect that ended with err.
func NoConnection(ctx context.Context, err error, began time.Time) *status.Failure {
	if ctx.Err() != nil {
		return cutOff(ctx, true, time.Since(began))
	}
	f := fail(status.FailureTransient, cmp.Or(knownWords(err), innermost(err).Error()), err)
	f.Class = classOf(err)
	return f
}

// cutOff is the failure of an attempt that was ended from outside.
func cutOff(ctx context.Context, unsent bool, took time.Duration) *status.Failure {
	text := "timed out after " + short(took)
	if unsent {
		text += " without a connection"
	}
	return cause.Failure(ctx, text)
}

// short writes how long something took: "340ms", "1.2s", "12s", "2m".
func short(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < 10*time.Second:
		unit = 100 * time.Millisecond
	}
	text := d.Round(unit).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		return whole + "m"
	}
	return text
}

// unanswered says why there is no answer to a call.
func (c *client) unanswered(ctx context.Context, err error, sent bool, last call) *answer {
	a := failed(nil, last)
	a.unsent = !sent
	if ctx.Err() != nil {
		a.Failure = cutOff(ctx, a.unsent, time.Since(last.began))
		return a
	}
	kind, words := status.FailureTransient, c.explain(err, last.at.url)
	class := classOf(err)
	if refusal, ok := errors.AsType[*proxyError](err); ok {
		kind, words, class = refusal.kind(), "the proxy: "+refusal.Error(), status.FailureOther
		a.Hint, a.Exhausted, a.Remarks = refusal.answer.Hint, refusal.answer.Exhausted, refusal.answer.Remarks
	}
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "proxyconnect" { // which says nothing of the server
		words = "the proxy: " + words
		if class != status.FailureTimeout {
			class = status.FailureOther
		}
	}
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if distrusted {
		words, _, _ = strings.Cut(strings.TrimPrefix(words, "x509: "), " (possibly")
		kind, words = status.FailureHopeless, "certificate not trusted: "+words
	}
	if len(last.redirects) > 0 {
		words += ", after a redirect to " + urlName(last.at.url)
	}
	a.Failure = fail(kind, words, err)
	a.Failure.Class = class
	if distrusted {
		a.Failure.Advice.Code = status.AdviceTrust
	}
	return a
}

// explain says what an error of net/http means. Its words can hold the URL with its query,
// the proxy's password, or bytes of the answer.
func (c *client) explain(err error, at *url.URL) string {
	if words := knownWords(err); words != "" {
		return words
	}
	e := innermost(err)
	text := e.Error()
	if _, ok := e.(textproto.ProtocolError); ok { // a line of the answer follows
		text, _, _ = strings.Cut(text, ":")
	}
	if _, why, ok := strings.Cut(text, "cannot retry err ["); ok { // as it should be
		text, _, _ = strings.Cut(why, "]")
	}
	secrets := redactor{secrets: slices.Clip(c.secrets.secrets), renewed: c.secrets.renewed}
	secrets.addURL(at)
	return secrets.clean(quoted().ReplaceAllString(text, `"..."`))
}

// quoted matches what errors quote of an answer.
var quoted = lazily(`"(?:[^"\\]|\\.)*"`)

// innermost returns the error that all others wrap.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// knownWords says what an error means where the error does not say it well, "" for others.
func knownWords(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "no such host " + e.Name
		}
		return "cannot look up " + e.Name
	}
	if e, ok := errors.AsType[*brokenOff](err); ok && errors.Is(err, io.ErrUnexpectedEOF) {
		if e.want > 0 {
			return fmt.Sprintf("connection closed after %d of %d bytes of the answer", e.got, e.want)
		}
		return fmt.Sprintf("the answer breaks off after %d bytes", e.got)
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case noTLS, strings.Contains(err.Error(), gaveHTTP):
		return "the server does not speak TLS on this port"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed without an answer"
	case errors.Is(err, syscall.ENOENT):
		return "no such socket"
	case isAny(err, refusedErrors[:]): // Windows needs many more words
		return "connection refused"
	case classOf(err) == status.FailureTimeout:
		return "timed out"
	}
	return ""
}

// The numbers above 10000 are those of Windows, which no other system has.
var (
	refusedErrors = [...]error{syscall.ECONNREFUSED, syscall.Errno(10061), syscall.ENOENT}
	resetErrors   = [...]error{
		syscall.ECONNRESET, syscall.Errno(10054), syscall.EPIPE, syscall.Errno(10058),
		syscall.ECONNABORTED, syscall.Errno(10053), io.EOF, io.ErrUnexpectedEOF, errSentAgain,
	}
	timeoutErrors = [...]error{syscall.ETIMEDOUT, syscall.Errno(10060)}
	// resetWords are in errors that net/http has no types for.
	resetWords = [...]string{
		"server closed idle connection", "transport connection broken", "received from peer", "GOAWAY", "cannot rewind body",
	}
)

func isAny(err error, of []error) bool {
	return slices.ContainsFunc(of, func(known error) bool { return errors.Is(err, known) })
}

// classOf says which kind of failure an error is.
func classOf(err error) status.FailureClass {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case e.IsNotFound:
			return status.FailureDNS
		case e.IsTimeout:
			return status.FailureTimeout
		}
		return status.FailureOther
	}
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case isAny(err, refusedErrors[:]):
		return status.FailureRefused
	case isTLS(err):
		return status.FailureTLS
	case isAny(err, resetErrors[:]):
		return status.FailureReset
	case isAny(err, timeoutErrors[:]), isNet && timeout.Timeout():
		return status.FailureTimeout
	case slices.ContainsFunc(resetWords[:], func(words string) bool { return strings.Contains(err.Error(), words) }):
		return status.FailureReset
	}
	return status.FailureOther
}

// isTLS reports whether err came from TLS, or from its absence.
func isTLS(err error) bool {
	_, alert := errors.AsType[tls.AlertError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return alert || record || distrusted || strings.Contains(err.Error(), "tls: ") ||
		strings.Contains(err.Error(), gaveHTTP)
}

// gaveHTTP is in the error of net/http that means the same as a [tls.RecordHeaderError].
const gaveHTTP = "server gave HTTP response to HTTPS client"
