package poll_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// A flood is a body of so many bytes that arrives at once. It counts those of which more
// than 1 MiB was read.
type flood struct {
	left, read int
	long       *atomic.Int32
}

func (f *flood) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	const free = 1 << 20
	if f.read <= free+32 && f.read+n > free+32 { // a few bytes show that it is longer
		f.long.Add(1)
	}
	f.left, f.read = f.left-n, f.read+n
	return n, nil
}

func (f *flood) Close() error { return nil }

type floods struct{ long atomic.Int32 }

func (f *floods) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: &flood{left: 3 << 20, long: &f.long}}, nil
}

// However many attempts are made at once, few long answers are held until the consumer
// has seen them.
func TestBodiesBoundAGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var server floods
		var bodies poll.Bodies
		targets := func(yield func(poll.Poller) bool) {
			for i := range 12 {
				url := fmt.Sprintf("http://api.example.com/%d", i)
				if !yield(poll.Poller{Probe: poll.HTTP{URL: url, Transport: &server, Bodies: &bodies}, Immediate: true}) {
					return
				}
			}
		}
		seen := int32(0)
		for e := range new(poll.Group).Events(t.Context(), targets) {
			switch e.Kind {
			case poll.EventAttempt:
				time.Sleep(time.Second) // a slow consumer
				synctest.Wait()
				if held := server.long.Load() - seen; held > 2 {
					t.Errorf("%d long answers are held", held)
				}
				seen++
			case poll.EventEnd:
				if o := e.Outcome; o.Ending != poll.Succeeded || len(o.Observation.Body) != 3<<20 {
					t.Errorf("%s with %d bytes", o.Reason, len(o.Observation.Body))
				}
			}
		}
		if seen != 12 {
			t.Errorf("%d attempts were seen", seen)
		}
	})
}
