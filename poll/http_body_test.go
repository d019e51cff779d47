package poll

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
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
