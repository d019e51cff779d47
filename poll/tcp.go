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

// TCP is a [Probe] that opens a connection to an address, and closes it at once. An established connection
// means success.
type TCP struct {
	// Address has the form "host:port", as for [net.Dial].
	Address string
	// Dial opens the connection; nil means DialContext of a [net.Dialer]. A custom Dial that tries several
	// addresses without a net.Dialer should return the errors for all of them, joined with [errors.Join].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Target returns "tcp://" followed by the address.
func (p TCP) Target() string { return "tcp://" + p.Address }

// Plan returns the plan of each attempt. Plan.Invalid is nil if Address consists of a host and a port. The host
// must be in ASCII. The port is a number or the name of a service. For any other Address, Plan.Invalid is an error that
// describes the fault.
func (p TCP) Plan() Plan {
	return Plan{Name: p.Target(), Origin: p.Target(), Invalid: p.invalid()}
}

// invalid returns an error if p.Address is not valid, and nil otherwise.
func (p TCP) invalid() error {
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("%q is not host:port", p.Address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is not a port", port)
	}
	if !connect.IsASCII(host) {
		return fmt.Errorf("the host %q is not in ASCII: its ASCII form begins with xn--", host)
	}
	return nil
}

// Check connects to the address once.
func (p TCP) Check(ctx context.Context, _ Attempt) Report {
	dial := p.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return Report{Observation: status.Observation{Kind: status.KindTCP, Protocol: meaning.Plain{}, Failure: request.Connect(ctx, dial, p.Address)}}
}
