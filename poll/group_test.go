package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// groupTimeline runs g in a bubble and writes a line for each event.
func groupTimeline(t *testing.T, g poll.Group, targets ...poll.Poller) string {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		for e := range g.Events(t.Context(), slices.Values(targets)) {
			fmt.Fprintln(&b, groupLine(e))
		}
	})
	return b.String()
}

func groupLine(e poll.Event) string {
	switch e.Kind {
	case poll.EventPlace:
		p := e.Place
		return fmt.Sprintf("%-7s %-7s %s %s", e.Elapsed, e.Kind, p.Name, p.Reason)
	case poll.EventGoal:
		s := e.Summary
		text := fmt.Sprintf("%-7s %-7s %s %d/%d of %d, %d attempts:", e.Elapsed, e.Kind, s.Ending,
			s.Endings[poll.Succeeded], s.Need, s.Targets, s.Attempts)
		for ending := poll.Succeeded; ending <= poll.Cancelled; ending++ {
			if n := s.Endings[ending]; n > 0 {
				text += fmt.Sprintf(" %d %s", n, ending)
			}
		}
		return text
	}
	return fmt.Sprintf("%d: %s", e.N, line(e))
}

// ends keeps the ends of targets, and what concerns the group.
func ends(timeline string) string {
	var b strings.Builder
	for l := range strings.Lines(timeline) {
		for _, kind := range []string{" end ", " place ", " goal "} {
			if strings.Contains(l[:min(len(l), 24)], kind) {
				b.WriteString(l)
			}
		}
	}
	return b.String()
}

// sorted sorts the ends of each moment: attempts that end at once are told in any order.
func sorted(timeline string) string {
	var moments [][]string
	last := ""
	for l := range strings.Lines(timeline) {
		at := l[strings.Index(l, ":")+1:]
		if at = strings.Fields(at)[0]; at != last {
			moments, last = append(moments, nil), at
		}
		moments[len(moments)-1] = append(moments[len(moments)-1], l)
	}
	for _, m := range moments {
		slices.Sort(m)
	}
	return strings.Join(slices.Concat(moments...), "")
}

func TestGroupWaitsForAll(t *testing.T) {
	t.Parallel()
	have := groupTimeline(t, poll.Group{Parallel: 2},
		poll.Poller{Probe: operation{readyAt: 200 * time.Millisecond, takes: 20 * time.Millisecond}},
		poll.Poller{Probe: operation{readyAt: 50 * time.Millisecond, takes: 10 * time.Millisecond}})
	wantTimeline(t, have, `
1: 0s      wait    #1 100ms
2: 0s      wait    #1 100ms
1: 100ms   start   #1
2: 100ms   start   #1
2: 110ms   attempt #1 SUCCESS in 10ms: HTTP 200 OK
2: 110ms   end     succeeded SUCCESS after 1: HTTP 200 OK
1: 120ms   attempt #1 NOT_READY in 20ms: HTTP 202 Accepted
1: 120ms   wait    #2 200ms
1: 320ms   start   #2
1: 340ms   attempt #2 SUCCESS in 20ms: HTTP 200 OK
1: 340ms   end     succeeded SUCCESS after 2: HTTP 200 OK
340ms   goal    succeeded 2/2 of 2, 3 attempts: 2 succeeded
`)
}

// after returns a target that succeeds at its first attempt, which takes d.
func after(name string, d time.Duration) poll.Poller {
	return once(name, d, nil)
}

// failing returns a target that fails at its first attempt, which takes d.
func failing(name string, d time.Duration) poll.Poller {
	return once(name, d, poll.Permanent(errors.New("broken")))
}

func once(name string, d time.Duration, err error) poll.Poller {
	return poll.Poller{Target: name, Immediate: true, Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		if !sleep(ctx, d) {
			return poll.Observe(ctx, nil, errors.New("cut off"))
		}
		return poll.Observe(ctx, nil, err)
	})}
}

func never(name string) poll.Poller {
	return poll.Poller{Target: name, Probe: operation{}, Schedule: backoff.Fixed(time.Second)}
}

func TestGroupGoals(t *testing.T) {
	t.Parallel()
	targets := []poll.Poller{
		after("a", 5*time.Second), failing("b", time.Second), after("c", 2*time.Second), failing("d", 3*time.Second), never("e"),
	}
	for name, test := range map[string]struct {
		group poll.Group
		want  string
	}{
		"all": {poll.Group{Timeout: time.Minute}, `
2: 1s      end     failed ERROR after 1: broken
3: 2s      end     succeeded SUCCESS after 1: the probe reports no failure
4: 3s      end     failed ERROR after 1: broken
1: 5s      end     succeeded SUCCESS after 1: the probe reports no failure
5: 59.975s end     timed out NOT_READY after 61: timed out after 1m; last: HTTP 202 Accepted
59.975s goal    failed 2/5 of 5, 65 attempts: 2 succeeded 2 failed 1 timed out
`},
		"all, fail fast": {poll.Group{FailFast: true}, `
1: 1s      end     cancelled NOT_READY after 1: the goal is out of reach; last: stopped before there was an answer
2: 1s      end     failed ERROR after 1: broken
3: 1s      end     cancelled NOT_READY after 1: the goal is out of reach; last: stopped before there was an answer
4: 1s      end     cancelled NOT_READY after 1: the goal is out of reach; last: stopped before there was an answer
5: 1s      end     cancelled NOT_READY after 1: the goal is out of reach; last: HTTP 202 Accepted
1s      goal    failed 0/5 of 5, 5 attempts: 1 failed 4 cancelled
`},
		"any": {poll.Group{AtLeast: 1}, `
2: 1s      end     failed ERROR after 1: broken
1: 2s      end     cancelled NOT_READY after 1: the goal was reached; last: stopped before there was an answer
3: 2s      end     succeeded SUCCESS after 1: the probe reports no failure
4: 2s      end     cancelled NOT_READY after 1: the goal was reached; last: stopped before there was an answer
5: 2s      end     cancelled NOT_READY after 2: the goal was reached; last: HTTP 202 Accepted
2s      goal    succeeded 1/1 of 5, 6 attempts: 1 succeeded 1 failed 3 cancelled
`},
		"two, out of reach only with the fourth": {poll.Group{AtLeast: 4, FailFast: true}, `
2: 1s      end     failed ERROR after 1: broken
3: 2s      end     succeeded SUCCESS after 1: the probe reports no failure
1: 3s      end     cancelled NOT_READY after 1: the goal is out of reach; last: stopped before there was an answer
4: 3s      end     failed ERROR after 1: broken
5: 3s      end     cancelled NOT_READY after 3: the goal is out of reach; last: HTTP 202 Accepted
3s      goal    failed 1/4 of 5, 7 attempts: 1 succeeded 2 failed 2 cancelled
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantTimeline(t, sorted(ends(groupTimeline(t, test.group, targets...))), test.want)
		})
	}
}

// placed is a probe at a place.
type placed struct {
	poll.ProbeFunc
	place string
}

func (p placed) Place() string { return p.place }

func TestTenThousandTargetsForAnHour(t *testing.T) {
	t.Parallel()
	const targets = 10_000
	attempts, most, running := 0, 0, 0
	var mu sync.Mutex
	probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
		mu.Lock()
		attempts++
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		if a.Elapsed < 55*time.Minute {
			return poll.Observe(ctx, nil, errors.New("busy"))
		}
		return poll.Observe(ctx, nil, nil)
	})
	all := func(yield func(poll.Poller) bool) {
		for i := range targets {
			p := poll.Poller{Target: fmt.Sprint(i), Probe: placed{probe, "the place"}, Schedule: backoff.Fixed(11 * time.Minute)}
			if !yield(p) {
				return
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := poll.Group{Timeout: time.Hour, Parallel: 500, ParallelPlace: func(string) int { return 400 }}
		summary, err := g.Run(t.Context(), all)
		if err != nil || summary.Endings[poll.Succeeded] != targets || summary.Attempts != attempts {
			t.Errorf("have %+v, %v; %d attempts were made", summary, err, attempts)
		}
	})
	if most != 400 || attempts != 5*targets {
		t.Errorf("have %d attempts, %d at once; want %d and 400", attempts, most, 5*targets)
	}
}
