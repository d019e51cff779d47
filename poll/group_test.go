package poll_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/meaning"
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
	case poll.EventOrigin:
		p := e.Origin
		return fmt.Sprintf("%-7s %-7s %s %s", e.Elapsed.Round(time.Microsecond), e.Kind, p.Name, p.Reason)
	case poll.EventGoal:
		s := e.Summary
		text := fmt.Sprintf("%-7s %-7s %s %d/%d of %d, %d attempts:", e.Elapsed.Round(time.Microsecond), e.Kind, s.Ending,
			s.Endings[poll.Succeeded], s.Need, s.Targets, s.Attempts)
		for _, ending := range allEndings {
			if n := s.Endings[ending]; n > 0 {
				text += fmt.Sprintf(" %d %s", n, ending)
			}
		}
		return text
	}
	return fmt.Sprintf("%d: %s", e.N, line(e))
}

// ends returns the lines about the ends of targets and about the group.
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

// sorted sorts the ends of each moment, since attempts that end at the same time are reported in any order.
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

// placed is a probe with an origin.
type placed struct {
	poll.ProbeFunc
	place string
}

func (p placed) Plan() poll.Plan { return poll.Plan{Origin: p.place} }

func TestGroupSpacesAttempts(t *testing.T) {
	busy := placed{place: "p", ProbeFunc: func(ctx context.Context, a poll.Attempt) status.Observation {
		time.Sleep(time.Nanosecond) // until the next has asked the Limiter
		if a.Elapsed.Truncate(time.Second) == 2*time.Second {
			return poll.Observe(ctx, nil, poll.Throttled(errors.New("busy"), 10*time.Second))
		}
		return poll.Observe(ctx, nil, nil)
	}}
	elsewhere := placed{place: "q", ProbeFunc: busy.ProbeFunc}
	var targets []poll.Poller
	for i := range 5 {
		p := poll.Poller{Target: fmt.Sprint(i), Probe: busy, Immediate: true, Rand: rand.New(still{})}
		if i == 2 {
			p.Schedule = backoff.Fixed(time.Minute)
		}
		targets = append(targets, p)
	}
	targets = append(targets, poll.Poller{Target: "5", Probe: elsewhere, InitialDelay: 4 * time.Second, Immediate: true, Rand: rand.New(still{})})
	g := poll.Group{Limiter: &poll.Pacer{PerSecond: 1, Rand: rand.New(still{})}}
	have := groupTimeline(t, g, targets...)
	wantTimeline(t, ends(have), `
1: 0s      end     succeeded SUCCESS after 1: the probe reports no failure
2: 1s      end     succeeded SUCCESS after 1: the probe reports no failure
3s      place   p the probe
6: 4s      end     succeeded SUCCESS after 1: the probe reports no failure
4: 12s     end     succeeded SUCCESS after 1: the probe reports no failure
5: 14s     end     succeeded SUCCESS after 1: the probe reports no failure
3: 1m2s    end     succeeded SUCCESS after 2: the probe reports no failure
1m2s    goal    succeeded 6/6 of 6, 7 attempts: 6 succeeded
`)
}

// A group waits for all its targets until the goal is reached or, with FailFast, out of reach. Its ending is the
// first of Failed, ThrottledTooLong, AttemptsExhausted and TimedOut among the endings of its targets.
func TestGroupGoals(t *testing.T) {
	bad, done, late, open := failing("bad", 1), after("done", 0), after("late", 2*time.Second+1), never("open")
	hung, busy, tried, short := after("hung", time.Hour), never("busy"), never("tried"), never("short")
	busy.Probe = &operation{answers: map[int]status.Observation{1: hinted(429, time.Hour)}}
	tried.MaxAttempts, short.Timeout = 2, 5*time.Second
	for _, test := range []struct {
		group   poll.Group
		targets []poll.Poller
		want    string // the last event
	}{
		{poll.Group{}, []poll.Poller{done, late}, "2s goal succeeded 2/2 of 2, 2 attempts: 2 succeeded"},
		{poll.Group{}, []poll.Poller{done, short}, "4.975s goal timed out 1/2 of 2, 7 attempts: 1 succeeded 1 timed out"},
		{poll.Group{AtLeast: 1}, []poll.Poller{open, hung, late, bad}, "2s goal succeeded 1/1 of 4, 5 attempts: 1 succeeded 1 failed 2 cancelled"},
		{poll.Group{AtLeast: 2}, []poll.Poller{open, done, late, bad}, "2s goal succeeded 2/2 of 4, 5 attempts: 2 succeeded 1 failed 1 cancelled"},
		{poll.Group{AtLeast: 1}, []poll.Poller{bad, bad}, "0s goal failed 0/1 of 2, 2 attempts: 2 failed"},
		{poll.Group{FailFast: true}, []poll.Poller{bad, open, hung}, "0s goal failed 0/3 of 3, 2 attempts: 1 failed 2 cancelled"},
		{poll.Group{FailFast: true, AtLeast: 3}, []poll.Poller{bad, done, open, failing("later", time.Second+1)},
			"1s goal failed 1/3 of 4, 4 attempts: 1 succeeded 2 failed 1 cancelled"},
		{poll.Group{}, []poll.Poller{done, bad, busy, tried, short},
			"4.975s goal failed 1/5 of 5, 11 attempts: 1 succeeded 1 failed 1 throttled past the deadline 1 attempts exhausted 1 timed out"},
		{poll.Group{}, []poll.Poller{done, busy, tried, short},
			"4.975s goal throttled past the deadline 1/4 of 4, 10 attempts: 1 succeeded 1 throttled past the deadline 1 attempts exhausted 1 timed out"},
		{poll.Group{}, []poll.Poller{done, tried, short}, "4.975s goal attempts exhausted 1/3 of 3, 9 attempts: 1 succeeded 1 attempts exhausted 1 timed out"},
	} {
		test.group.Timeout, test.group.Rand = 10*time.Second, rand.New(still{})
		lines := strings.Split(strings.TrimSpace(groupTimeline(t, test.group, test.targets...)), "\n")
		if have := strings.Join(strings.Fields(lines[len(lines)-1]), " "); have != test.want {
			t.Errorf("have %s, want %s", have, test.want)
		}
	}
}

// Parallel limits all concurrent attempts, and ParallelOrigin the concurrent attempts at one origin.
func TestGroupLimits(t *testing.T) {
	for _, test := range []struct {
		parallel, place int
		places          string // of the targets, each of which takes a second
		all, one        int    // attempts at once: in all, and at one place at most
	}{
		{0, 0, strings.Repeat("a", 100), 50, 50},
		{2, 0, "aaaabbbb", 2, 2},
		{0, 3, "aaaaaabbb", 6, 3},
		{4, 3, "aaaaaabbbbbb", 4, 3},
	} {
		var mu sync.Mutex
		now, peak := make(map[string]int), make(map[string]int)
		count := func(place string, n int) {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range []string{"all", place} {
				now[key] += n
				peak[key] = max(peak[key], now[key])
			}
		}
		var targets []poll.Poller
		for _, name := range test.places {
			place := string(name)
			targets = append(targets, poll.Poller{Probe: placed{place: place, ProbeFunc: func(ctx context.Context, _ poll.Attempt) status.Observation {
				count(place, 1)
				defer count(place, -1)
				time.Sleep(time.Second)
				return poll.Observe(ctx, nil, nil)
			}}})
		}
		synctest.Test(t, func(t *testing.T) {
			g := poll.Group{Parallel: test.parallel, ParallelOrigin: func(string) int { return test.place }}
			if _, err := g.Run(t.Context(), slices.Values(targets)); err != nil || peak["all"] != test.all || max(peak["a"], peak["b"]) > test.one {
				t.Errorf("%+v: have %v, at once %v", test, err, peak)
			}
		})
	}
}

// An attempt that takes longer than 5 s counts only for its origin, up to a total of four times Parallel. Beyond
// this total the origins take turns.
func TestGroupGoesOnNextToPlacesThatHang(t *testing.T) {
	for _, test := range []struct {
		parallel, places int // the places hang, with six targets each
		hung, done       int // attempts that hang, and targets that succeed at least
	}{
		{50, 12, 72, 60},
		{6, 5, 24, 3},
	} {
		var targets []poll.Poller
		var hung atomic.Int32
		add := func(place string, n int, look poll.ProbeFunc) {
			for range n {
				targets = append(targets, poll.Poller{Probe: placed{place: place, ProbeFunc: look}, Immediate: true})
			}
		}
		for place := range test.places {
			add(fmt.Sprint(place), 6, func(ctx context.Context, _ poll.Attempt) status.Observation {
				hung.Add(1)
				<-ctx.Done()
				return poll.Observe(ctx, nil, ctx.Err())
			})
		}
		add("fine", 60, func(ctx context.Context, _ poll.Attempt) status.Observation {
			time.Sleep(100 * time.Millisecond)
			return poll.Observe(ctx, nil, nil)
		})
		g := poll.Group{Parallel: test.parallel, Timeout: 20 * time.Second, Rand: rand.New(still{}), ParallelOrigin: func(string) int { return 6 }}
		synctest.Test(t, func(t *testing.T) {
			for e := range g.Events(t.Context(), slices.Values(targets)) {
				if e.Kind == poll.EventGoal && (int(hung.Load()) != test.hung || e.Summary.Endings[poll.Succeeded] < test.done) {
					t.Errorf("%+v: %d attempts hung, %v", test, hung.Load(), e.Summary.Endings)
				}
			}
		})
	}
}

// An attempt that hangs keeps its room until AttemptTimeout.
func TestGroupKeepsTheRoomOfWhatHangs(t *testing.T) {
	var targets []poll.Poller
	for i, took := range []time.Duration{20, 20, 1, 1, 1} {
		p := after(fmt.Sprint(i+1), took*time.Second)
		p.Probe = placed{place: "p", ProbeFunc: p.Probe.(poll.ProbeFunc)}
		p.AttemptTimeout, p.MaxAttempts = 5*time.Second, 1
		targets = append(targets, p)
	}
	have := groupTimeline(t, poll.Group{ParallelOrigin: func(string) int { return 2 }}, targets...)
	wantTimeline(t, sorted(ends(have)), `
1: 5s      end     attempts exhausted NOT_READY after 1: attempts made: 1 of 1; last: attempt timed out
2: 5s      end     attempts exhausted NOT_READY after 1: attempts made: 1 of 1; last: attempt timed out
3: 6s      end     succeeded SUCCESS after 1: the probe reports no failure
4: 6s      end     succeeded SUCCESS after 1: the probe reports no failure
5: 7s      end     succeeded SUCCESS after 1: the probe reports no failure
7s      goal    attempts exhausted 3/5 of 5, 5 attempts: 3 succeeded 2 attempts exhausted
`)
}

func TestGroupIsInterrupted(t *testing.T) {
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(errors.New("a signal")) })
		var g poll.Group
		for e := range g.Events(ctx, slices.Values([]poll.Poller{never("a"), after("b", time.Minute)})) {
			fmt.Fprintln(&b, groupLine(e))
		}
		outcomes, err := g.Run(ctx, slices.Values([]poll.Poller{never("a")}))
		if !errors.Is(err, poll.Interrupted) || len(outcomes) != 1 || err.Error() != "0 of 1 target succeeded, all needed; interrupted: a signal" {
			t.Errorf("have %v of %+v", err, outcomes)
		}
	})
	wantTimeline(t, sorted(ends(b.String())), `
1: 1.5s    end     interrupted NOT_READY after 1: a signal; last: HTTP 202 Accepted
2: 1.5s    end     interrupted NOT_READY after 1: a signal; last: stopped before a response
1.5s    goal    interrupted 0/2 of 2, 2 attempts: 2 interrupted
`)
}

// A caller that keeps the last State from an event never repeats a start request, even if the caller is slow, or
// breaks out of the iteration at any event. The bubble fails if a goroutine is left.
func TestGroupWaitsForTheConsumerOfAStart(t *testing.T) {
	for n := 1; n < 12; n++ {
		synctest.Test(t, func(t *testing.T) {
			var services [3]service
			var past [4]poll.State
			for range 2 {
				targets := []poll.Poller{{}, {}, {}, after("slow", time.Minute)}
				for i := range services {
					targets[i] = services[i].poller()
					targets[i].Past = new(past[i])
					targets[i].Starting = func(s poll.State) error {
						past[i] = s
						return nil
					}
				}
				seen := 0
				for e := range new(poll.Group).Events(t.Context(), slices.Values(targets)) {
					if time.Sleep(50 * time.Millisecond); e.N > 0 {
						past[e.N-1] = e.State
					}
					if seen++; seen == n {
						break
					}
				}
			}
			for i := range services {
				if starts := strings.Count(fmt.Sprint(services[i].requests), "POST"); starts > 1 {
					t.Errorf("left at event %d, target %d was started %d times", n, i+1, starts)
				}
			}
		})
	}
}

// A consumer that is slow with an event or a result delays no attempt.
func TestGroupWaitsForNoConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		target := poll.Poller{
			Probe: poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
				if at := time.Since(start); at != time.Duration(a.Number)*100*time.Millisecond {
					t.Errorf("look %d comes after %s", a.Number, at)
				}
				if a.Number < 3 {
					return poll.Observe(ctx, nil, errors.New("not yet"))
				}
				return poll.Observe(ctx, nil, nil)
			}),
			Schedule: backoff.Fixed(100 * time.Millisecond),
			Finalize: func(o poll.Outcome) poll.Outcome {
				time.Sleep(time.Minute)
				o.Value = time.Since(start)
				return o
			},
		}
		for e := range new(poll.Group).Events(t.Context(), slices.Values([]poll.Poller{target, target, target})) {
			if time.Sleep(time.Second); e.Kind == poll.EventEnd && e.Outcome.Value != time.Minute+300*time.Millisecond {
				t.Errorf("target %d has its result after %s", e.N, e.Outcome.Value)
			}
		}
	})
}

// A Poller with missing or invalid parts fails before its first attempt, and the error names the list that
// failed.
func TestGroup_rejectsPollersWithoutAnExpression(t *testing.T) {
	done := after("a", 0)
	list := poll.Poller{Target: "jobs", Probe: done.Probe, Elements: &poll.Elements{}}
	ruled := poll.Poller{Probe: done.Probe, Rules: status.Rules{Own: []status.Rule{{Status: status.Success}}}}
	for want, p := range map[string]poll.Poller{
		"0 of 0 targets succeeded, 1 needed; jobs failed: the elements have no Each": list,
		"0 of 1 target succeeded, all needed; a target failed: a rule has no Expr":   ruled,
	} {
		outcomes, err := (&poll.Group{}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if err == nil || err.Error() != want || len(outcomes) > 0 && outcomes[0].State.Attempts != 0 {
			t.Errorf("have %v after %+v, want %s", err, outcomes, want)
		}
	}
	if _, err := new(poll.Group).Run(t.Context(), slices.Values([]poll.Poller{})); err == nil || err.Error() != "0 of 0 targets succeeded, all needed; failed" {
		t.Errorf("without targets: %v", err)
	}
}

// A response of another origin after a redirect does not close the origin of the target.
func TestGroupDoesNotCloseAPlaceForAnother(t *testing.T) {
	redirected := placed{place: "p", ProbeFunc: func(ctx context.Context, a poll.Attempt) status.Observation {
		o := poll.Observe(ctx, nil, poll.Throttled(errors.New("busy"), time.Hour))
		o.Protocol, o.Quota = meaning.HTTP{Elsewhere: true}, &status.Quota{Reset: time.Hour}
		return o
	}}
	fine := placed{place: "p", ProbeFunc: func(ctx context.Context, _ poll.Attempt) status.Observation { return poll.Observe(ctx, nil, nil) }}
	g := poll.Group{Limiter: &poll.Pacer{}, Timeout: time.Minute}
	have := groupTimeline(t, g, poll.Poller{Probe: redirected, Immediate: true}, poll.Poller{Probe: fine, InitialDelay: time.Second, Immediate: true})
	wantTimeline(t, ends(have), `
1: 0s      end     throttled past the deadline THROTTLED after 1: busy, the probe asks for 1h, and 1m are left before the deadline
2: 1s      end     succeeded SUCCESS after 1: the probe reports no failure
1s      goal    throttled past the deadline 1/2 of 2, 2 attempts: 1 succeeded 1 throttled past the deadline
`)
}

// A single wait, too, ends if other processes have closed its origin until the deadline.
func TestPollerLimiter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := after("a", 0)
		p.Probe, p.Timeout = placed{p.Probe.(poll.ProbeFunc), "p"}, 5*time.Second
		p.Limiter = &poll.Pacer{Rand: rand.New(still{})}
		p.Limiter.Done("p", poll.Feedback{Sent: time.Now(), Refused: true, Wait: time.Minute, Reason: "busy"})
		o, err := p.Run(t.Context())
		if want := "p is closed for 1m (busy), and 5s are left before the deadline"; !errors.Is(err, poll.ThrottledTooLong) || o.Reason != want {
			t.Errorf("%v: have %s, want %s", err, o.Reason, want)
		}
	})
}

// A target with a Limiter of its own holds up no other at the same place.
func TestGroupOwnLimiters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		looks := make(map[string]int)
		var mu sync.Mutex
		target := func(name string, perSecond float64) poll.Poller {
			probe := placed{func(ctx context.Context, _ poll.Attempt) status.Observation {
				mu.Lock()
				defer mu.Unlock()
				looks[name]++
				return poll.Observe(ctx, nil, errors.New("not yet"))
			}, "p"}
			return poll.Poller{Target: name, Probe: probe, Limiter: &poll.Pacer{PerSecond: perSecond, Known: true}, Schedule: backoff.Fixed(time.Second)}
		}
		g := poll.Group{Timeout: time.Minute, ParallelOrigin: func(string) int { return 1 }}
		g.Run(t.Context(), slices.Values([]poll.Poller{target("slow", 0.05), target("quick", 10)}))
		if looks["slow"] > 3 || looks["quick"] < 55 {
			t.Errorf("looks: %v", looks)
		}
	})
}

// A probe that ends its goroutine, as t.FailNow does, does not keep the group from its end.
func TestGroupOfAProbeThatExits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		probe := poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation {
			runtime.Goexit()
			return status.Observation{}
		})
		g := poll.Group{Timeout: time.Minute}
		outcomes, err := g.Run(t.Context(), slices.Values([]poll.Poller{{Probe: probe, Schedule: backoff.Fixed(time.Second)}}))
		if len(outcomes) != 1 || outcomes[0].Ending != poll.TimedOut || !errors.Is(err, poll.TimedOut) {
			t.Errorf("outcomes %v, error %v", outcomes, err)
		}
	})
}

// A share that is a whole number of targets is not rounded up. The least share is one target.
func TestPercentOfMany(t *testing.T) {
	for percent, want := range map[float64]int{4.4: 33, 1e-8: 1, 100: 750} {
		bubble(t, func(t *testing.T) {
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation { return poll.Observe(ctx, nil, nil) })
			g := poll.Group{Percent: percent}
			for e := range g.Events(t.Context(), slices.Values(slices.Repeat([]poll.Poller{{Probe: probe}}, 750))) {
				if e.Kind == poll.EventGoal && e.Summary.Need != want {
					t.Errorf("%g%%: %d of %d are needed, want %d", percent, e.Summary.Need, e.Summary.Targets, want)
				}
			}
		})
	}
}

// With the same seed each target of a group has the same waits, in whatever order the attempts end.
func TestGroup_seed(t *testing.T) {
	waits := func(slow int) (all [3]string) {
		var targets []poll.Poller
		for i := range all {
			probe := poll.ProbeFunc(func(ctx context.Context, a poll.Attempt) status.Observation {
				if i == slow {
					time.Sleep(5 * time.Second)
				}
				return poll.Observe(ctx, nil, errors.New("not done"))
			})
			targets = append(targets, poll.Poller{Probe: probe, Schedule: backoff.Full(backoff.Fixed(time.Second)), MaxAttempts: 5})
		}
		synctest.Test(t, func(t *testing.T) {
			g := poll.Group{Rand: rand.New(rand.NewPCG(1, 2))}
			for e := range g.Events(t.Context(), slices.Values(targets)) {
				if e.Kind == poll.EventWait {
					all[e.N-1] += e.Wait.String() + " "
				}
			}
		})
		return all
	}
	if first, second := waits(0), waits(2); first != second {
		t.Errorf("with a slow target 1: %s\nwith a slow target 3: %s", first, second)
	} else if first[0] == first[1] {
		t.Errorf("two targets have the same waits: %s", first)
	}
}
