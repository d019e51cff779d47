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

// Target returns "tcp://" and the address.
func (p TCP) Target() string { return "tcp://" + p.Address }

// Plan returns the plan of each attempt. Address has to be a host in ASCII and a known port.
func (p TCP) Plan() Plan {
	return Plan{Name: p.Target(), Origin: p.Target(), Invalid: p.invalid()}
}

func (p TCP) invalid() error {
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

// Check connects once.
func (p TCP) Check(ctx context.Context, _ Attempt) Report {
	dial := p.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return Report{Observation: status.Observation{Kind: status.KindTCP, Protocol: meaning.Plain{}, Failure: request.Connect(ctx, dial, p.Address)}}
}
