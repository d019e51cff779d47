package request

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
)

// mostAsks is how often a connection may be asked for. HTTP/2 asks twice for one that it
// already has, and for ever if each new one is closed.
const mostAsks = 4

// errSentAgain is why a request was stopped that net/http was about to send again.
var errSentAgain = errors.New("the server closed the connection, or refused the request")

// A delivery ensures that a request which may change something is sent once, and a look at
// most twice.
//
// Within one RoundTrip net/http sends a request again as it sees fit: over HTTP/2 after a
// GOAWAY and after a reset with REFUSED_STREAM or PROTOCOL_ERROR; over HTTP/1 when a
// connection that was in use before breaks, unless there is a body, or if there is an
// Idempotency-Key. Whenever it takes a connection for that, a hook stops the request.
type delivery struct {
	stop   context.CancelCauseFunc // ends the request
	most   int32                   // how often it may be sent
	asks   atomic.Int32            // for a connection; 0 of a transport that does not call the hooks
	writes atomic.Int32            // of the request's header
}

// deliver returns the delivery of a request, and its context.
func deliver(ctx context.Context, method string) (context.Context, *delivery) {
	d := &delivery{most: 1}
	if isSafe(method) {
		d.most = 2
	}
	ctx, d.stop = context.WithCancelCause(ctx)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			d.asks.Add(1)
			d.check()
		},
		GotConn: func(info httptrace.GotConnInfo) {
			// HTTP/2 looks whether a request was stopped before it writes one. HTTP/1 does not.
			c, ok := info.Conn.(*tls.Conn)
			isHTTP2 := ok && c.ConnectionState().NegotiatedProtocol == "h2"
			if !d.check() && !isHTTP2 {
				info.Conn.Close()
			}
		},
		WroteHeaders: func() { d.writes.Add(1) },
	}), d
}

// check stops the request if it was sent often enough, and reports whether it may be sent.
func (d *delivery) check() bool {
	if d.asks.Load() > mostAsks || d.writes.Load() >= d.most {
		d.stop(errSentAgain)
		return false
	}
	return true
}

// sent reports whether the server may have seen a request whose RoundTrip ended with err.
func (d *delivery) sent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	isConnecting := ok && (op.Op == "dial" || op.Op == "proxyconnect")
	return d.writes.Load() > 0 || d.asks.Load() == 0 && !isConnecting
}

// A proxyError is a proxy's refusal to connect to the server.
type proxyError struct{ answer status.Observation }

func (e *proxyError) Error() string {
	words := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", *e.answer.Code, http.StatusText(*e.answer.Code)))
	if h := e.answer.Hint; h != nil && e.kind() != status.FailureThrottled { // its verdict names the hint itself
		words += fmt.Sprintf(", %s asks for %s", h.Source, h.Wait)
	}
	return words
}

// kind says what the refusal means. A refusal due neither to load nor to the proxy's own
// trouble is its policy.
func (e *proxyError) kind() status.FailureKind {
	code := *e.answer.Code
	switch {
	case e.answer.RefusedForLoad():
		return status.FailureThrottled
	case code == http.StatusProxyAuthRequired, code == http.StatusForbidden, code >= 300 && code < 400:
		return status.FailureHopeless
	}
	return status.FailureTransient
}

// ObserveProxy makes t return the refusal of a proxy as an error.
func ObserveProxy(t *http.Transport) {
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		// The status text can be anything, and is not repeated.
		refusal := &proxyError{status.Observation{Code: &answer.StatusCode, Header: answer.Header}}
		hint.Read(&refusal.answer, time.Now())
		return refusal
	}
}
