package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A hundred groups at once share a limiter, and nothing else.
func TestGroups(t *testing.T) {
	t.Parallel()
	limiter := &poll.Pacer{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			var targets []poll.Poller
			for i := range 10 {
				probe := placed{place: fmt.Sprint(i % 3), ProbeFunc: func(ctx context.Context, a poll.Attempt) status.Observation {
					if a.Number < 3 {
						return poll.Observe(ctx, nil, errors.New("not yet"))
					}
					return poll.Observe(ctx, []byte("{}"), nil)
				}}
				targets = append(targets, poll.Poller{Probe: probe, Schedule: backoff.Fixed(time.Millisecond)})
			}
			g := poll.Group{Limiter: limiter, Timeout: time.Minute}
			if s, err := g.Run(t.Context(), slices.Values(targets)); err != nil || s.Attempts != 30 {
				t.Errorf("have %+v, %v", s, err)
			}
		})
	}
	wg.Wait()
}
