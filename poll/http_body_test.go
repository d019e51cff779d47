package poll

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/status"
)

// blocked is a body that takes no notice of its context.
type blocked struct{ closed chan struct{} }

func (b *blocked) Read([]byte) (int, error) {
	<-b.closed
	return 0, net.ErrClosed
}

func (b *blocked) Close() error {
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	return nil
}

// TestBodyEnds waits for bodies that never end by themselves.
func TestBodyEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := HTTP{URL: "http://api.example.com/", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &blocked{make(chan struct{})}}, nil
		})}
		p := Poller{Probe: h, Immediate: true, AttemptTimeout: 2 * time.Second, Timeout: 5 * time.Second}
		outcome, _ := p.Run(t.Context())
		if outcome.Ending != TimedOut || outcome.Elapsed > 5*time.Second {
			t.Errorf("have %s after %s", outcome.Ending, outcome.Elapsed)
		}
	})
}

// TestSwitchingProtocols meets a server that leaves HTTP and then says nothing.
func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method string
		kind   status.FailureKind // of a start
	}{{method: "GET"}, {"POST", status.FailureMayHaveStarted}} {
		synctest.Test(t, func(t *testing.T) {
			transport, err := Connect{}.Transport()
			if err != nil {
				t.Fatal(err)
			}
			transport.Proxy = nil
			transport.DialContext = pipeTo(func(conn net.Conn) {
				conn.Read(make([]byte, 4096))
				io.WriteString(conn, "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
				io.Copy(io.Discard, conn) // until it is closed
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			o := HTTP{URL: "http://api.example.com/", Method: test.method, Transport: transport}.Probe(ctx, Attempt{Number: 1})
			if o.Code == nil || *o.Code != 101 || len(o.Body) != 0 || time.Since(begun) != 0 {
				t.Errorf("%s: have %+v after %s", test.method, o, time.Since(begun))
			}
			if test.method == "POST" && (o.Failure == nil || o.Failure.Kind != test.kind) {
				t.Errorf("POST: have %v", o.Failure)
			}
			if v := (status.Rules{}).Classify(t.Context(), o); v.Status != status.Error {
				t.Errorf("%s: have %s", test.method, v.Status)
			}
		})
	}
}

func TestReadBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size, limit int
		decoded     bool
		kept        int
		want        int64
	}{
		{0, 10, false, 0, 0},
		{9, 10, false, 9, 9},
		{10, 10, false, 10, 10},
		{11, 10, false, 10, 11},
		{5000, 10, false, 10, 5000},
		{10, 10, true, 10, 10},
		{5000, 10, true, 10, 11},
	} {
		kept, size, err := readBody(bytes.NewReader(make([]byte, test.size)), -1, int64(test.limit), test.decoded)
		if err != nil || len(kept) != test.kept || size != test.want {
			t.Errorf("%+v: have %d bytes of %d, %v", test, len(kept), size, err)
		}
	}
}

// However long a body, its buffer is no longer than what is kept of it.
func TestReadUpTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ length, limit, room, kept int64 }{
		{0, 10, 0, 0}, {0, 10, 512, 0}, {10, 10, 1, 10}, {11, 10, 1, 10}, {9, 10, 512, 9},
		{100_000, 1 << 20, 512, 100_000}, {3 << 20, 1<<20 + 1, 512, 1<<20 + 1},
	} {
		body := bytes.Repeat([]byte("0123456789"), int(test.length/10)+1)[:test.length]
		have, err := readUpTo(iotest.HalfReader(bytes.NewReader(body)), test.limit, test.room)
		if err != nil || !bytes.Equal(have, body[:test.kept]) || int64(cap(have)) > test.limit {
			t.Errorf("%+v: have %d bytes in %d, %v", test, len(have), cap(have), err)
		}
	}
	if have, err := readUpTo(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader([]byte("abc")))), 10, 10); err != iotest.ErrTimeout || string(have) != "a" {
		t.Errorf("have %q, %v", have, err)
	}
}
