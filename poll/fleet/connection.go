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
	pages bool // arrays are expected

	// Of the line under way:
	kind   byte // its first byte, 0 at its beginning
	digits int  // of the length that it announces
	length int
	body   int // bytes of a string that are still to come, with the end of its line
}

// The most digits that the length of a string, and that of an array, may have.
const (
	stringDigits = 6
	arrayDigits  = 4
)

// Read reads what the server says.
func (g *guarded) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if g.body > 0 {
			skipped := min(g.body, len(rest))
			g.body -= skipped
			rest = rest[skipped:]
			continue
		}
		if !g.read(rest[0]) {
			return 0, errUnexpected
		}
		rest = rest[1:]
	}
	return n, err
}

// read reports whether a byte of a line may be there.
func (g *guarded) read(c byte) bool {
	most := stringDigits
	if g.kind == '*' {
		most = arrayDigits
	}
	switch {
	case g.kind == 0:
		g.kind, g.digits, g.length = c, 0, 0
		return c != '*' || g.pages
	case c == '\n':
		if g.kind == '$' && g.digits > 0 {
			g.body = g.length + len("\r\n")
		}
		g.kind = 0
	case g.kind != '$' && g.kind != '*':
	case c == '-':
		g.digits = -1 << 20 // there is no string
	case '0' <= c && c <= '9':
		g.digits++
		g.length = 10*g.length + int(c-'0')
		return g.digits <= most
	}
	return true
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
