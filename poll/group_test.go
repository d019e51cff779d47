package poll_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

func TestGroupWaitsForAll(t *testing.T) {
	t.Parallel()
	have := groupTimeline(t, poll.Group{},
		poll.Poller{Probe: operation{readyAt: 200 * time.Millisecond}},
		poll.Poller{Probe: operation{readyAt: 50 * time.Millisecond}})
	wantTimeline(t, have, `
1: 0s      wait    #1 100ms
2: 0s      wait    #1 100ms
1: 100ms   start   #1
2: 100ms   start   #1
1: 100ms   attempt #1 NOT_READY in 0s: HTTP 202 Accepted
1: 100ms   wait    #2 200ms
2: 100ms   attempt #1 SUCCESS in 0s: HTTP 200 OK
2: 100ms   end     succeeded SUCCESS after 1: HTTP 200 OK
1: 300ms   start   #2
1: 300ms   attempt #2 SUCCESS in 0s: HTTP 200 OK
1: 300ms   end     succeeded SUCCESS after 2: HTTP 200 OK
300ms   goal    succeeded 2/2 of 2, 3 attempts: 2 succeeded
`)
}

// after returns a target that succeeds at its first attempt after d, and is called name.
func after(name string, d time.Duration) poll.Poller {
	return poll.Poller{Target: name, Probe: operation{takes: d, readyAt: time.Nanosecond}, Immediate: true}
}

// failing returns a target that fails at its first attempt, which takes d.
func failing(name string, d time.Duration) poll.Poller {
	return poll.Poller{Target: name, Immediate: true, Probe: poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		sleep(ctx, d)
		return poll.Observe(ctx, nil, poll.Permanent(errors.New("broken")))
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
3: 2s      end     succeeded SUCCESS after 1: HTTP 200 OK
4: 3s      end     failed ERROR after 1: broken
1: 5s      end     succeeded SUCCESS after 1: HTTP 200 OK
5: 59.975s end     timed out NOT_READY after 61: timed out after 1m; last: HTTP 202 Accepted
59.975s goal    failed 2/5 of 5, 65 attempts: 2 succeeded 2 failed 1 timed out
`},
		"all, fail fast": {poll.Group{FailFast: true}, `
2: 1s      end     failed ERROR after 1: broken
5: 1s      end     cancelled None after 0: cancelled: the goal is out of reach
1: 1s      end     cancelled NOT_READY after 1: cancelled: the goal is out of reach; last: stopped
`},
		"any": {poll.Group{AtLeast: 1}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantTimeline(t, ends(groupTimeline(t, test.group, targets...)), test.want)
		})
	}
}
