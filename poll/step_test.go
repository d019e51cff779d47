package poll_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"testing"

	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// steps waits by steps. The state between two steps goes through JSON.
func steps(t *testing.T, p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] {
	return func(yield func(poll.Event) bool) {
		kept := []byte(`{"v":3}`)
		for {
			var state poll.State
			if err := json.Unmarshal(kept, &state); err != nil {
				t.Errorf("%v: %s", err, kept)
				return
			}
			state, events := p.Step(ctx, state)
			for _, e := range events {
				if !yield(e) || e.Kind == poll.EventEnd {
					return
				}
			}
			var err error
			if kept, err = json.Marshal(state); err != nil {
				t.Error(err)
				return
			}
			last := events[len(events)-1]
			due := last.State.Due
			if d := last.Deadline; !d.IsZero() && d.Before(due) {
				due = d
			}
			sleep(ctx, time.Until(due))
		}
	}
}

// Every conversation goes the same way by steps. A State holds no cookies and no
// validators; and a result that is not there yet is looked for where the operation's status
// is.
func TestConversations_bySteps(t *testing.T) {
	otherwise := map[string]bool{
		"conditional": true, "cookies": true, "unfetched": true,
		"the first look at a result is part of the attempt that said done, and each look takes its turn": true,
		"the result is looked for until it is there":                                                     true,
		"a page that a redirect led to is not the result":                                                true,
	}
	converse(t, func(t *testing.T, c conversation) {
		if otherwise[c.file] || otherwise[c.name] {
			t.SkipNow()
		}
		c.run(t, func(p *poll.Poller, ctx context.Context) iter.Seq[poll.Event] { return steps(t, p, ctx) })
	})
}

// The deadline belongs to the whole wait, even if a step comes after the deadline.
func TestAStepAfterTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := poll.Poller{Probe: &operation{}, Schedule: backoff.Fixed(time.Minute), Timeout: 90 * time.Second}
		state, _ := p.Step(t.Context(), poll.State{})
		time.Sleep(2 * time.Minute)
		state, events := p.Step(t.Context(), state)
		if o := events[0].Outcome; o == nil || o.Ending != poll.TimedOut || o.Reason != "timed out after 1m30s" || state.Ended() {
			t.Errorf("events %+v", events)
		}
	})
}

// The deadline of a step's context cuts its attempt short in time to keep the state. It is
// none of the wait: a hint may lead past it, and no look comes early because of it.
func TestTheDeadlineOfAStep(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, attempt time.Duration
		op               operation
		want             string
	}{
		"a wait that outlasts it": {0, 0, operation{}, "0s NOT_READY, then 2m0s"},
		"a hint that outlasts it": {
			0, 0, operation{answers: map[int]status.Observation{1: hinted(429, time.Hour)}}, "0s THROTTLED, then 1h3m0s",
		},
		"an attempt that does":         {0, 0, operation{takes: time.Hour}, "55s NOT_READY, then 2m0s"},
		"an attempt with its own":      {0, time.Second, operation{takes: time.Hour}, "1s NOT_READY, then 2m0s"},
		"an attempt with a longer one": {0, time.Hour, operation{takes: time.Hour}, "55s NOT_READY, then 2m0s"},
		"the deadline of the wait":     {90 * time.Second, 0, operation{takes: time.Second}, "1s NOT_READY, then 1m27s"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := poll.Poller{
					Probe: &test.op, Schedule: backoff.Fixed(2 * time.Minute), Immediate: true, Rand: rand.New(half{}),
					Timeout: test.timeout, AttemptTimeout: test.attempt,
				}
				begun := time.Now()
				state, events := p.Step(ctx, poll.State{})
				next := events[len(events)-1]
				have := fmt.Sprintf("%s %s, then %s", time.Since(begun), state.Status, next.Wait)
				if have != test.want || next.Kind != poll.EventWait {
					t.Errorf("have %s with %s, want %s", next.Kind, have, test.want)
				}
			})
		})
	}
}

// A step whose context was done before its start makes no attempt, and the next step continues the wait.
func TestAStepThatComesTooLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(time.Minute)
		p := poll.Poller{Probe: &operation{}, Immediate: true}
		state, events := p.Step(ctx, poll.State{})
		o := events[len(events)-1].Outcome
		if o == nil || o.Ending != poll.Interrupted || !errors.Is(o.Cause, context.DeadlineExceeded) || state.Ended() {
			t.Fatalf("events %+v", events)
		}
		if state, _ = p.Step(t.Context(), state); state.Attempts != 1 {
			t.Errorf("after that: %+v", state)
		}
	})
}

// A step whose attempt has to wait for the limiter makes no attempt, and yields one EventWait, which has the reason.
func TestAStepThatTheLimiterHolds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		limiter := &poll.Pacer{PerSecond: 0.1}
		limiter.Next("the service", time.Time{})
		p := poll.Poller{Probe: atPlace{&operation{}}, Immediate: true, Limiter: limiter}
		state, events := p.Step(t.Context(), poll.State{})
		last := events[len(events)-1]
		if last.Kind != poll.EventWait || last.HeldBy != poll.HeldByRate || last.Wait != 10*time.Second || state.Attempts != 0 {
			t.Errorf("state %+v, last event %+v", state, last)
		}
		time.Sleep(last.Wait)
		if state, events = p.Step(t.Context(), state); state.Attempts != 1 || events[0].Kind != poll.EventStart {
			t.Errorf("after the wait: state %+v, events %+v", state, events)
		}
	})
}

// A workflow engine keeps the state, and comes again when it is time.
func ExamplePoller_Step() {
	looks := 0
	p := poll.Poller{
		Schedule: backoff.Fixed(time.Millisecond),
		Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
			if looks++; looks < 3 {
				return poll.Observe(ctx, nil, fmt.Errorf("%d of 3", looks))
			}
			return poll.Observe(ctx, []byte("done"), nil)
		}),
	}
	kept := []byte(`{"v":3}`) // as in a database
	for {
		var state poll.State
		if err := json.Unmarshal(kept, &state); err != nil {
			fmt.Println(err)
			return
		}
		state, events := p.Step(context.Background(), state)
		if state.Attempts > 0 {
			fmt.Println(state.Attempts, state.Status, state.Reason)
		}
		if state.Ended() {
			fmt.Println(state.Ending)
			return
		}
		kept, _ = json.Marshal(state)
		next := events[len(events)-1].State.Due
		time.Sleep(time.Until(next)) // elsewhere, in another process
	}
	// Output:
	// 1 NOT_READY 1 of 3
	// 2 NOT_READY 2 of 3
	// 3 SUCCESS the probe reports no failure
	// succeeded
}
