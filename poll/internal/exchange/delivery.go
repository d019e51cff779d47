package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
)

// Why a request that net/http was about to send again was stopped.
const (
	afterClose   plainError = "connection closed by the server"
	afterRefusal plainError = "the server reset the HTTP/2 stream (REFUSED_STREAM)"
	afterGoAway  plainError = "the server is closing the HTTP/2 connection (GOAWAY)"
	afterEither  plainError = "the server reset the HTTP/2 stream (PROTOCOL_ERROR) or is closing the connection (GOAWAY)"
)

// A delivery is one request on its way. It notes how far the request gets, and
// ensures that it is sent once.
//
// Within one RoundTrip net/http sends a request again as it sees fit: over
// HTTP/2 after a GOAWAY and after a reset with REFUSED_STREAM or PROTOCOL_ERROR,
// without a pause and without an end; over HTTP/1 when a connection that was in
// use before breaks. A delivery allows another connection only where nothing
// was written on one that had been idle.
//
// It is a link of the request's context, where the hooks of a transport find it.
type delivery struct {
	context.Context
	stop  context.CancelCauseFunc // ends the request
	trace httptrace.ClientTrace

	mu       sync.Mutex
	asked    bool       // for a connection: the transport calls the hooks
	asks     int        // how often, since it was given one
	conn     net.Conn   // the last one that the request was given
	reused   bool       // conn had served other requests
	written  bool       // the request's header, on conn
	answered bool       // what follows is a request that the transport makes by itself
	again    plainError // why it was stopped before it was sent again; "" if it was not
	atProxy  bool       // a proxy was asked to connect, and has not answered
}

// deliver returns a delivery and the context of its request.
func deliver(ctx context.Context) (context.Context, *delivery) {
	d := &delivery{}
	d.Context, d.stop = context.WithCancelCause(ctx)
	d.trace = httptrace.ClientTrace{
		GetConn:              d.getConn,
		GotConn:              d.gotConn,
		WroteHeaders:         func() { d.set(&d.written, true) },
		GotFirstResponseByte: func() { d.set(&d.answered, true) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			d.set(&d.answered, false) // the answer proper is still to come
			return nil
		},
	}
	return httptrace.WithClientTrace(d, &d.trace), d
}

type deliveryKey struct{}

// Value finds the delivery by its key.
func (d *delivery) Value(key any) any {
	if key == (deliveryKey{}) {
		return d
	}
	return d.Context.Value(key)
}

func (d *delivery) set(field *bool, value bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*field = value
}

// maxAsks is how often a connection may be asked for until there is one. HTTP/2 asks
// twice for one it already has, and for ever if each new one is closed.
const maxAsks = 2

// getConn stops a request that had a connection and would be sent again.
func (d *delivery) getConn(string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = true
	d.asks++
	unseen := d.conn == nil || d.reused && !d.written
	switch {
	case d.answered, d.again != "", unseen && d.asks <= maxAsks:
		return
	case !d.written:
		d.again = afterGoAway // HTTP/1 does not ask again after a new connection
	case d.reused && !isHTTP2(d.conn):
		d.again = afterClose
	default:
		d.again = afterEither
	}
	d.stop(d.again)
}

// gotConn notes the connection. A stopped request can be given one nevertheless:
// HTTP/2 then looks whether it was stopped, HTTP/1 does not.
func (d *delivery) gotConn(info httptrace.GotConnInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.again == "":
		d.conn, d.reused, d.asks = info.Conn, info.Reused, 0
	case info.Conn == d.conn:
		d.again = afterRefusal // any other reason to send it again makes the connection unusable
	case !isHTTP2(info.Conn):
		info.Conn.Close()
	}
}

func isHTTP2(conn net.Conn) bool {
	c, ok := conn.(*tls.Conn)
	return ok && c.ConnectionState().NegotiatedProtocol == "h2"
}

// failed says what became of a request whose RoundTrip ended with err.
func (d *delivery) failed(err error) *sendError {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.again != "" {
		err = d.again
	}
	e := &sendError{err: err, atProxy: d.atProxy, left: d.conn != nil && (d.answered || !unprocessed(err))}
	if !d.asked {
		e.left = !neverConnected(err)
	}
	return e
}

// unprocessed reports whether err says that the server did nothing with the
// request (RFC 9113 section 8.7).
func unprocessed(err error) bool {
	if errors.Is(err, afterRefusal) || errors.Is(err, afterGoAway) {
		return true
	}
	for _, text := range []string{
		"REFUSED_STREAM; received from peer",
		"GOAWAY and closed the connection; LastStreamID=0,", // which no request has
		"Transport received GOAWAY",                         // on a stream above the last one processed
		"graceful shutdown GOAWAY",                          // the same
		"client conn not usable",
		"client conn could not be established",
		"cannot rewind body", // only where nothing was written: what was has no GetBody
	} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// A proxyError is a proxy's refusal to connect to the server.
type proxyError struct{ answer status.Observation }

func (e *proxyError) Error() string {
	words := strings.TrimSpace(fmt.Sprintf("the proxy: HTTP %d %s", *e.answer.Code, http.StatusText(*e.answer.Code)))
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

// ObserveProxy makes t tell the delivery when a proxy is asked to connect, and return its
// refusal as an error.
func ObserveProxy(t *http.Transport) {
	asked := func(ctx context.Context, asked bool) {
		if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
			d.set(&d.atProxy, asked)
		}
	}
	t.GetProxyConnectHeader = func(ctx context.Context, _ *url.URL, _ string) (http.Header, error) {
		asked(ctx, true)
		return nil, nil
	}
	t.OnProxyConnectResponse = func(ctx context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
		asked(ctx, false)
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		// The status text can be anything, and is not repeated.
		refusal := &proxyError{status.Observation{Code: &answer.StatusCode, Header: answer.Header}}
		hint.Read(&refusal.answer, time.Now())
		return refusal
	}
}
