package poll

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
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
