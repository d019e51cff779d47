package request

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
)

// maxAsks is the number of connections that one RoundTrip may request from the pool. It stops an endless loop: net/http
// requests connections for ever if an HTTP/2 server closes each new connection. Two requests are normal for an existing
// HTTP/2 connection.
const maxAsks = 4

// errSentAgain is the cause of the end of a request that net/http was about to send again.
var errSentAgain = errors.New("the server closed the connection, or refused the request")

// A delivery limits how often net/http sends one request: a request with a safe method at most twice, every other request
// once. It also records whether the request was sent.
//
// Within one RoundTrip, net/http may send a request again. Over HTTP/2 it does this after a GOAWAY, and after a reset
// with REFUSED_STREAM or PROTOCOL_ERROR. Over HTTP/1 it does this when a reused connection breaks and the request has
// no body or has an Idempotency-Key. Before each further sending net/http takes a connection, and a hook stops the request.
type delivery struct {
	dialing
	stop   context.CancelCauseFunc // ends the request
	most   int32                   // allowed number of sendings
	asks   atomic.Int32            // number of requested connections; 0 if the transport does not call the hooks
	writes atomic.Int32            // number of times that the header of the request was written
}

// deliver returns the delivery of a request with this method, and the context that the request must use.
func deliver(ctx context.Context, method string) (context.Context, *delivery) {
	d := &delivery{most: 1}
	if isSafe(method) {
		d.most = 2
	}
	ctx, d.stop = context.WithCancelCause(ctx)
	hooks := d.hooks()
	hooks.GetConn = func(string) {
		d.asks.Add(1)
		d.check()
	}
	hooks.GotConn = func(info httptrace.GotConnInfo) {
		// HTTP/2 does not write a request whose context is done. HTTP/1 writes it, unless the connection is closed.
		c, ok := info.Conn.(*tls.Conn)
		isHTTP2 := ok && c.ConnectionState().NegotiatedProtocol == "h2"
		if !d.check() && !isHTTP2 {
			info.Conn.Close()
		}
	}
	hooks.WroteHeaders = func() { d.writes.Add(1) }
	return httptrace.WithClientTrace(ctx, hooks), d
}

// check reports whether the request may be sent now. If not, it ends the request.
func (d *delivery) check() bool {
	if d.asks.Load() > maxAsks || d.writes.Load() >= d.most {
		d.stop(errSentAgain)
		return false
	}
	return true
}

// sent reports whether the server may have seen a request whose RoundTrip ended with err.
func (d *delivery) sent(err error) bool {
	return d.writes.Load() > 0 || d.asks.Load() == 0 && !isConnecting(err)
}

// Connect connects to "host:port" by dial, and closes the connection. It returns nil if one of the
// addresses of the host accepts the connection.
func Connect(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), address string) *status.Failure {
	began := time.Now()
	var d dialing
	conn, err := connect.DialFirst(httptrace.WithClientTrace(ctx, d.hooks()), dial, "tcp", address)
	if err == nil {
		conn.Close()
		return nil
	}
	if err = d.all(ctx, err); ctx.Err() != nil {
		return cutOff(ctx, true, time.Since(began))
	}
	f := meaningOf(err, error.Error)
	f.Err = &safeError{words: f.Reason, cause: err}
	return f
}

// A dialing collects the errors of all addresses that an attempt connects to, and of all names that it
// looks up. A [net.Dialer] returns only the first error.
type dialing struct {
	mu   sync.Mutex
	errs []error
}

// hooks returns the hooks through which package net reports the errors.
func (d *dialing) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) { d.add(err) },
		DNSDone:     func(info httptrace.DNSDoneInfo) { d.add(info.Err) },
	}
}

func (d *dialing) add(err error) {
	if err != nil {
		d.mu.Lock()
		d.errs = append(d.errs, err)
		d.mu.Unlock()
	}
}

// all joins err, the error of an attempt, with the errors of all addresses. It returns an error that is
// not about a connection unchanged.
func (d *dialing) all(ctx context.Context, err error) error {
	if !isConnecting(err) {
		return err
	}
	d.mu.Lock()
	all := append([]error{err}, d.errs...)
	d.mu.Unlock()
	for _, e := range all[1:] {
		if lookup, ok := errors.AsType[*net.DNSError](e); ok && lookup.IsNotFound {
			all = append(all, strictly(ctx, lookup.Name)...)
		}
	}
	return errors.Join(all...)
}

// isConnecting reports whether net/http returned err because it has opened no connection.
func isConnecting(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// strictly returns the errors of a lookup for each family of addresses, after a lookup that has not found a
// name. That lookup sends a query for each family and each domain to search, and reports a missing name even
// if some of the queries have failed.
func strictly(ctx context.Context, name string) (errs []error) {
	usual := net.DefaultResolver
	strict := &net.Resolver{PreferGo: usual.PreferGo, StrictErrors: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dial := usual.Dial
		if dial == nil {
			dial = new(net.Dialer).DialContext
		}
		conn, err := dial(ctx, network, address)
		if udp, ok := conn.(*net.UDPConn); ok {
			return strictConn{udp}, err
		}
		return conn, err
	}}
	for _, network := range []string{"ip4", "ip6"} {
		_, err := strict.LookupNetIP(ctx, network, name)
		errs = append(errs, cmp.Or(err, error(&net.DNSError{Err: "it was found later", Name: name})))
	}
	return errs
}

// A strictConn is a connection to a name server. [net.Resolver.StrictErrors] only heeds SERVFAIL, so Read
// replaces other failures, such as REFUSED, by SERVFAIL (RFC 1035 section 4.1.1).
type strictConn struct{ *net.UDPConn }

func (c strictConn) Read(b []byte) (n int, err error) {
	n, err = c.UDPConn.Read(b)
	if n > 3 && !slices.Contains([]byte{0, 3}, b[3]&0xf) { // no error, and a missing name
		b[3] = b[3]&0xf0 | 2
	}
	return n, err
}
