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

// maxConnections is the number of connections that net/http may request from its pool for one RoundTrip. The limit
// stops an endless loop: if an HTTP/2 server closes each new connection, net/http requests connections for ever. Up to
// two requests are normal, for a pooled HTTP/2 connection.
const maxConnections = 4

// errSentAgain is the reason for canceling a request that net/http was about to send again.
var errSentAgain = errors.New("the server closed the connection, or rejected the request")

// A delivery limits how often net/http sends one request: at most twice if its method is safe, otherwise once. It
// also records whether the request was sent at all.
//
// The limit is needed because net/http repeats requests within one RoundTrip. Over HTTP/2 it does this after a
// GOAWAY, and after a reset with REFUSED_STREAM or PROTOCOL_ERROR. Over HTTP/1 it does this when a reused connection
// breaks and the request has no body or has an Idempotency-Key. Before each repetition net/http takes a connection
// from its pool: that calls a hook of the delivery, which cancels the request.
type delivery struct {
	dialing
	stop        context.CancelCauseFunc // cancels the request
	most        int32                   // how often the request may be sent
	connections atomic.Int32            // number of connections requested from the pool; 0 if the transport does not call the hooks
	writes      atomic.Int32            // how often the header of the request was written
}

// newDelivery returns a delivery for a request with the given method, and the context for sending that request.
func newDelivery(ctx context.Context, method string) (context.Context, *delivery) {
	d := &delivery{most: 1}
	if isSafe(method) {
		d.most = 2
	}
	ctx, d.stop = context.WithCancelCause(ctx)
	hooks := d.hooks()
	hooks.GetConn = func(string) {
		d.connections.Add(1)
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

// check reports whether the request may be sent on a new connection. If not, check cancels the request.
func (d *delivery) check() bool {
	if d.connections.Load() > maxConnections || d.writes.Load() >= d.most {
		d.stop(errSentAgain)
		return false
	}
	return true
}

// sent reports whether the server may have received a request whose RoundTrip failed with err. A transport that does
// not call the hooks is assumed to have sent the request, unless it could not connect.
func (d *delivery) sent(err error) bool {
	return d.writes.Load() > 0 || d.connections.Load() == 0 && !isConnecting(err)
}

// Connect opens a connection to address, a "host:port", by calling dial, and closes the connection again. It returns
// nil if one of the host's addresses accepts the connection, and a failure otherwise.
func Connect(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), address string) *status.Failure {
	began := time.Now()
	var d dialing
	conn, err := connect.DialFirst(httptrace.WithClientTrace(ctx, d.hooks()), dial, "tcp", address)
	if err == nil {
		conn.Close()
		return nil
	}
	if err = d.allErrors(ctx, err); ctx.Err() != nil {
		return cutOff(ctx, true, time.Since(began))
	}
	f := failureOf(err, error.Error)
	f.Err = &safeError{words: f.Reason, cause: err}
	return f
}

// A dialing collects the errors of all addresses that an attempt connects to, and of all names that it looks up. It
// is needed because a [net.Dialer] returns only the first error.
type dialing struct {
	mu   sync.Mutex
	errs []error
}

// hooks returns hooks for package net, which calls them after each connection and each lookup, successful or not.
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

// allErrors joins err, the error of a request or connection, with the collected errors. For each name that was not
// found, it also adds the errors of a second, strict lookup. It returns err unchanged if err is not about opening a
// connection.
func (d *dialing) allErrors(ctx context.Context, err error) error {
	if !isConnecting(err) {
		return err
	}
	d.mu.Lock()
	all := append([]error{err}, d.errs...)
	d.mu.Unlock()
	for _, e := range all[1:] {
		if lookup, ok := errors.AsType[*net.DNSError](e); ok && lookup.IsNotFound {
			all = append(all, lookUpStrictly(ctx, lookup.Name)...)
		}
	}
	return errors.Join(all...)
}

// isConnecting reports whether err means that no connection could be opened, to the server or to a proxy.
func isConnecting(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// lookUpStrictly looks up the given host name again, once for IPv4 and once for IPv6, and returns both errors.
// The usual lookup sends one query for each address family and search domain, and reports a missing name even
// if some of the queries have failed. A strict lookup reports such failures. For a lookup that now finds the
// name, the error is "it was found later".
func lookUpStrictly(ctx context.Context, name string) (errs []error) {
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

// A strictConn is a connection to a name server. With [net.Resolver.StrictErrors], a lookup fails only after a
// SERVFAIL. So Read turns other errors in a response, such as REFUSED, into SERVFAIL (RFC 1035 section 4.1.1).
type strictConn struct{ *net.UDPConn }

func (c strictConn) Read(b []byte) (n int, err error) {
	n, err = c.UDPConn.Read(b)
	if n > 3 && !slices.Contains([]byte{0, 3}, b[3]&0xf) { // 0 means success, and 3 means a missing name
		b[3] = b[3]&0xf0 | 2
	}
	return n, err
}
