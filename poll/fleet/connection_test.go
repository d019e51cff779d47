package fleet

import (
	"bytes"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// A speech is a connection over which a server has said everything already.
type speech struct {
	net.Conn
	*bytes.Reader
}

func (s speech) Read(b []byte) (int, error)       { return s.Reader.Read(b) }
func (s speech) Write(b []byte) (int, error)      { return len(b), nil }
func (s speech) Close() error                     { return nil }
func (s speech) SetReadDeadline(time.Time) error  { return nil }
func (s speech) SetWriteDeadline(time.Time) error { return nil }

// Whatever a server says, it is read without a panic and in little memory.
func FuzzConnection(f *testing.F) {
	for _, said := range []string{"+OK\r\n", "-ERR x\r\n", ":5\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", "*-1\r\n",
		"$99999999999\r\n", "*9999999\r\n", "*9999\r\n*9999\r\n*9999\r\n", "$*9$9*9\r\n", "*0000000000001\r\n", "$-99999999\r\n", "*+99999999\r\n",
		"+PONG\r\n*2\r\n$1\r\n5\r\n$1\r\n6\r\n*2\r\n$1\r\n0\r\n*1\r\n$1\r\nx\r\n"} {
		f.Add([]byte(said), false)
		f.Add([]byte(said), true)
	}
	f.Fuzz(func(t *testing.T, said []byte, pages bool) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		conn := redis.NewConn(&guarded{Conn: speech{Reader: bytes.NewReader(said)}, pages: pages}, time.Second, time.Second)
		redis.String(conn.Do("PING"))
		now, err := clock(t.Context(), conn)
		if err == nil && now < 0 {
			t.Errorf("%q is the time %d", said, now)
		}
		page(t.Context(), conn, "0")
		conn.Close()
		runtime.ReadMemStats(&after)
		if most := uint64(10<<20 + len(said)<<15); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%q took %d bytes", said, after.TotalAlloc-before.TotalAlloc)
		}
	})
}
