package poll

import (
	"context"
	"fmt"
	"net"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// TCP is a [Probe] that connects to an address and closes the connection at once.
type TCP struct {
	// Address is "host:port", as for [net.Dial].
	Address string
	// Dial connects; nil means the DialContext of a [net.Dialer]. A Dial of your own that tries several
	// addresses has to return the errors of all of them ([errors.Join]), unless a [net.Dialer] does the work.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Check returns an error if Address is not a host in ASCII and a known port.
func (p TCP) Check() error {
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("%q is not host:port", p.Address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port", port)
	}
	if !connect.IsASCII(host) {
		return fmt.Errorf("the host %q is not in ASCII: its ASCII form begins with xn--", host)
	}
	return nil
}

// Target returns "tcp://" and the address.
func (p TCP) Target() string { return "tcp://" + p.Address }

// Place returns the same as Target.
func (p TCP) Place() string { return p.Target() }

// Look connects once.
func (p TCP) Look(ctx context.Context, _ Attempt) status.Observation {
	o := status.Observation{Kind: status.KindTCP, Protocol: meaning.TCP{}}
	dial := p.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	o.Failure = request.Connect(ctx, dial, p.Address)
	return o
}
