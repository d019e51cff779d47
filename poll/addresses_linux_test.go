package poll_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"testing"

	"github.com/pollcli/poll/poll"
)

// TestNoRoute fails to connect to a name with two addresses, one of which does not accept connections. Only an IPv6 address to
// which this machine has no route does not count.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	const address = "[2001:db8::1]:1"
	if conn, err := net.Dial("udp6", address); err == nil { // nothing is sent
		conn.Close()
		runtime.LockOSThread() // the thread ends with the test
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			t.Skip("there is a route, and the test cannot remove it: ", err)
		}
	}
	for name, test := range map[string]struct {
		address string
		errno   syscall.Errno
		class   string
	}{
		"no route":          {address, syscall.ENETUNREACH, "refused"},
		"no IPv6":           {address, syscall.EADDRNOTAVAIL, "refused"},
		"a silent address":  {address, syscall.ETIMEDOUT, "timeout"},
		"an unreachable":    {address, syscall.EHOSTUNREACH, ""},
		"no route for IPv4": {"192.0.2.1:1", syscall.ENETUNREACH, ""},
	} {
		fail := func(context.Context, string, string) (net.Conn, error) {
			to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(test.address))
			return nil, errors.Join(&net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: test.errno},
				&net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:1")), Err: syscall.ECONNREFUSED})
		}
		o := poll.TCP{Address: "x.test:1", Dial: fail}.Check(t.Context(), poll.Attempt{Number: 1})
		if o.Failure == nil || o.Failure.Class != test.class {
			t.Errorf("%s: have %+v, want %q", name, o.Failure, test.class)
		}
	}
}
