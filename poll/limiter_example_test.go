package poll_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// tokens is a poll.Limiter that uses golang.org/x/time/rate. Each origin has a bucket. A refused request halves
// the rate of its origin.
type tokens struct {
	perSecond rate.Limit
	mu        sync.Mutex
	buckets   map[string]*rate.Limiter
}

func (t *tokens) bucket(place string) *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.buckets == nil {
		t.buckets = make(map[string]*rate.Limiter)
	}
	if t.buckets[place] == nil {
		t.buckets[place] = rate.NewLimiter(t.perSecond, 1)
	}
	return t.buckets[place]
}

// Next reserves a token. An earlier reservation for the same request stays valid.
func (t *tokens) Next(place string, had time.Time) (at time.Time, closed string) {
	if !had.IsZero() {
		return had, ""
	}
	return time.Now().Add(t.bucket(place).Reserve().Delay()), ""
}

func (t *tokens) Done(place string, f poll.Feedback) {
	if b := t.bucket(place); f.Refused {
		b.SetLimit(b.Limit() / 2)
	}
}

// Three targets at one origin get twenty requests a second.
func ExampleLimiter() {
	var targets []poll.Poller
	for _, name := range []string{"a", "b", "c"} {
		targets = append(targets, poll.Poller{Target: name, Immediate: true, Probe: atPlace{poll.ProbeFunc(
			func(ctx context.Context, a poll.Attempt) status.Observation { return poll.Observe(ctx, nil, nil) },
		)}})
	}
	began := time.Now()
	group := poll.Group{Limiter: &tokens{perSecond: 20}}
	outcomes, err := group.Run(context.Background(), slices.Values(targets))
	fmt.Println(len(outcomes), err, time.Since(began) >= 100*time.Millisecond)
	// Output: 3 <nil> true
}

// atPlace is a probe whose Plan names an origin.
type atPlace struct{ poll.Probe }

func (atPlace) Plan() poll.Plan { return poll.Plan{Origin: "the service"} }
