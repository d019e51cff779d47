package fleet

import (
	"context"
	"crypto/tls"
	"net"
)

// A guarded connection ends where a server announces more than it could have to say: the
// client takes the memory for it before the first byte has come.
type guarded struct {
	net.Conn
	pages  bool // arrays are expected
	most   int  // digits of the number under way, 0 outside of one
	digits int
}

// The most digits that the length of a string, and that of an array, may have.
const (
	stringDigits = 6
	arrayDigits  = 4
)

// Read reads what the server says. A string that holds what would be too long an announcement
// is taken for one.
func (g *guarded) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	for _, c := range b[:n] {
		switch {
		case c == '*' && !g.pages:
			g.most, g.digits = -1, 0
		case c == '*':
			g.most, g.digits = arrayDigits, 0
		case c == '$':
			g.most, g.digits = stringDigits, 0
		case g.most != 0 && '0' <= c && c <= '9':
			g.digits++
		default:
			g.most = 0
		}
		if g.most != 0 && g.digits > g.most {
			return 0, errUnexpected
		}
	}
	return n, err
}

// dialer returns what opens connections, encrypted if there is a configuration for that.
func dialer(config *tls.Config, pages bool) func(ctx context.Context, network, host string) (net.Conn, error) {
	return func(ctx context.Context, network, host string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, host)
		if err != nil {
			return nil, err
		}
		if config != nil {
			encrypted := tls.Client(conn, config)
			if err := encrypted.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, err
			}
			conn = encrypted
		}
		return &guarded{Conn: conn, pages: pages}, nil
	}
}
