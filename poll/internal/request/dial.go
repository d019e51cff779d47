package request

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
)

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
	add := func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil {
			d.errs = append(d.errs, err)
		}
	}
	return &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) { add(err) },
		DNSDone:     func(info httptrace.DNSDoneInfo) { add(info.Err) },
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

// leaves returns the errors that err joins, or only err.
func leaves(err error) (all []error) {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}

// weight orders the errors of the addresses of a host: the least weight decides. Nothing listens at a
// host if all its addresses refuse connections. A name without addresses adds none to the addresses of
// other names. An IPv6 address does not count on a machine without a route to that address: many machines
// have no IPv6.
func weight(err error) int {
	class := meaningOfOne(err).Class
	switch {
	case hasNoRoute(err):
		return 3
	case class == status.ClassDNS:
		return 2
	case class == status.ClassRefused:
		return 1
	}
	return 0
}

// hasNoRoute reports whether err is due to a connection to an IPv6 address to which this machine has no route.
// A socket for datagrams then cannot connect either. It sends nothing, so a router cannot be the reason.
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

// addressOf returns the address of the connection that err is about. It returns "" if err is not about a connection.
func addressOf(err error) string {
	for op, ok := errors.AsType[*net.OpError](err); ok; op, ok = errors.AsType[*net.OpError](op.Err) {
		if op.Addr != nil {
			return op.Addr.String()
		}
	}
	return ""
}
