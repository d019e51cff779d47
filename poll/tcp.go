package poll

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/pollcli/poll/poll/internal/exchange"
	"github.com/pollcli/poll/status"
)

// TCP probes an address by connecting to it. The connection is closed at once.
type TCP struct {
	// Address is "host:port", as for [net.Dial].
	Address string
	// Dial connects; nil is a [net.Dialer]'s DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Check reports what makes the address impossible to connect to.
func (p TCP) Check() error {
	host, port, err := net.SplitHostPort(p.Address)
	switch {
	case err != nil || port == "":
		return fmt.Errorf("%q is not host:port", p.Address)
	case host == "":
		return fmt.Errorf("%q has no host", p.Address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}

// Target returns "tcp://" and the address.
func (p TCP) Target() string { return "tcp://" + p.Address }

// Probe connects once.
func (p TCP) Probe(ctx context.Context, _ Attempt) status.Observation {
	o := status.Observation{Kind: status.KindTCP}
	dial := p.Dial
	if dial == nil {
		dial = exchange.DialLocalhost((&net.Dialer{}).DialContext)
	}
	began := time.Now()
	conn, err := dial(ctx, "tcp", p.Address)
	switch {
	case err == nil:
		conn.Close()
	case ctx.Err() != nil:
		o.Failure = exchange.Cut(ctx, "", false, time.Since(began))
	default:
		o.Failure = exchange.NoConnection(err)
	}
	return o
}
