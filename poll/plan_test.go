package poll

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
)

// begun is when the waits of the tables began.
var begun = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// standingAt returns where a wait by a schedule of 10 s stands after three attempts, the last of which ended with a verdict.
func standingAt(verdict status.Status) *standing {
	last := &conclusion{observation: &status.Observation{}, verdict: status.Verdict{Status: verdict}, begun: begun.Add(20 * time.Second)}
	return &standing{
		State: State{Start: begun, Began: begun, Attempts: 3, Status: verdict, Streak: 1, Since: begun.Add(20 * time.Second), Last: begun.Add(20 * time.Second)},
		p:     Poller{Schedule: backoff.Fixed(10 * time.Second), Throttled: backoff.Fixed(30 * time.Second), SuccessThreshold: Threshold{Times: 1}, ErrorThreshold: Threshold{Times: 1}, Rand: rand.New(zeros{})},
		last:  last,
	}
}

// The next attempt comes by the schedule, unless a hint, a threshold or the deadline moves it.
func TestNext(t *testing.T) {
	t.Parallel()
	now := begun.Add(20 * time.Second)
	deadline := func(left time.Duration) func(*standing) {
		return func(s *standing) { s.deadline = now.Add(left) }
	}
	hint := func(wait time.Duration) func(*standing) {
		return func(s *standing) { s.Hint = &status.Hint{Wait: wait} }
	}
	for _, test := range []struct {
		name    string
		verdict status.Status
		set     func(*standing)
		of      listing
		want    string
	}{
		{"the schedule", status.NotReady, func(*standing) {}, listing{}, "10s"},
		{"a refusal without a hint", status.Throttled, func(*standing) {}, listing{}, "30s"},
		{"a hint", status.Throttled, hint(time.Minute), listing{}, "1m0s"},
		{"a shorter hint", status.NotReady, hint(time.Second), listing{}, "10s"},
		{"the deadline", status.NotReady, deadline(5 * time.Second), listing{}, "3s last"},
		{"the deadline, measured", status.NotReady, func(s *standing) { s.deadline, s.Took[0] = now.Add(5*time.Second), time.Second }, listing{}, "3s last"},
		{"a later deadline", status.NotReady, deadline(time.Minute), listing{}, "10s"},
		{"time for others", status.NotReady, func(s *standing) {
			s.deadline, s.others, s.Took[0] = now.Add(11*time.Second), 3*time.Second, time.Second
		}, listing{}, "6s last"},
		{"a hint until the deadline", status.Throttled, func(s *standing) { s.deadline, s.Hint = now.Add(5*time.Second), &status.Hint{Wait: 4 * time.Second} }, listing{}, "4s last"},
		{"a verdict that has to hold", status.Success, func(s *standing) {}, listing{hold: 4 * time.Second, streak: 1}, "4s"},
		{"a list to confirm", status.NotReady, func(*standing) {}, listing{confirmAt: now.Add(2 * time.Second)}, "2s"},
		{"the plan of an earlier run", status.NotReady, func(s *standing) { s.Due = now.Add(7 * time.Second) }, listing{}, "7s"},
		{"the time since an earlier run", status.NotReady, func(s *standing) { s.last = &conclusion{}; s.Last = now.Add(-4 * time.Second) }, listing{}, "6s"},
		{"the first attempt", status.None, func(s *standing) { s.Attempts, s.p.Immediate, s.p.InitialDelay = 0, true, 2*time.Second }, listing{}, "2s"},
		{"a start", status.None, func(s *standing) { s.Attempts, s.Began = 0, time.Time{} }, listing{}, "0s"},
		{"two in a row that need time", status.NotReady, func(s *standing) {
			s.deadline, s.p.SuccessThreshold = now.Add(30*time.Second), Threshold{For: 20 * time.Second}
		}, listing{}, "7.155s"},
	} {
		s := standingAt(test.verdict)
		test.set(s)
		due, isLast, _ := s.next(test.of, now)
		have := due.Sub(now).String()
		if isLast {
			have += " last"
		}
		if have != test.want {
			t.Errorf("%s: have %s, want %s", test.name, have, test.want)
		}
	}
}

// If several endings apply, the first of these counts: the verdict, the run, a hint, the attempts, the deadline.
func TestEndingOf(t *testing.T) {
	t.Parallel()
	now := begun.Add(20 * time.Second)
	limits := func(s *standing) { s.deadline, s.p.MaxAttempts = now.Add(time.Millisecond), 3 }
	for _, test := range []struct {
		name    string
		verdict status.Status
		set     func(*standing)
		stopped Ending
		want    Ending
	}{
		{"nothing", status.NotReady, func(*standing) {}, "", ""},
		{"SUCCESS", status.Success, limits, Interrupted, Succeeded},
		{"ERROR", status.Error, limits, Interrupted, Failed},
		{"SUCCESS below the threshold", status.Success, func(s *standing) { s.p.SuccessThreshold.Times = 2 }, "", ""},
		{"SUCCESS that has not held", status.Success, func(s *standing) { s.p.SuccessThreshold.For = time.Second }, "", ""},
		{"ERROR below the threshold", status.Error, func(s *standing) { s.p.ErrorThreshold.Times = 2 }, "", ""},
		{"a final ERROR", status.Error, func(s *standing) { s.p.ErrorThreshold.Times, s.last.verdict.Final = 2, true }, "", Failed},
		{"the caller", status.NotReady, limits, Interrupted, Interrupted},
		{"a hint", status.Throttled, func(s *standing) { s.Hint, s.deadline = &status.Hint{Wait: time.Minute}, now.Add(time.Minute) }, "", HintTooLong},
		{"a hint without a deadline", status.Throttled, func(s *standing) { s.Hint = &status.Hint{Wait: time.Minute} }, "", ""},
		{"the attempts", status.NotReady, limits, "", AttemptsExhausted},
		{"the deadline", status.NotReady, func(s *standing) { s.deadline = now.Add(minReserve - 1) }, "", TimedOut},
		{"time for one more attempt", status.NotReady, func(s *standing) { s.deadline = now.Add(minReserve) }, "", ""},
	} {
		s := standingAt(test.verdict)
		test.set(s)
		if have := s.endingOf(test.stopped, now); have != test.want {
			t.Errorf("%s: have %q, want %q", test.name, have, test.want)
		}
	}
}

// Equal verdicts in a row are counted. An attempt that shows nothing leaves the count as it is.
func TestConclude(t *testing.T) {
	t.Parallel()
	stopped := status.Observation{Failure: &status.Failure{Kind: status.FailureStopped}}
	abandoned := status.Verdict{Status: status.NotReady}
	abandoned.Abandoned = true
	for _, test := range []struct {
		name      string
		before    status.Status
		o         status.Observation
		v         status.Verdict
		isBetween bool
		want      string
	}{
		{"the first", status.None, status.Observation{}, status.Verdict{Status: status.Success}, false, "SUCCESS 1 since 1m0s"},
		{"the same again", status.Success, status.Observation{}, status.Verdict{Status: status.Success}, false, "SUCCESS 3 since 20s"},
		{"another", status.Success, status.Observation{}, status.Verdict{Status: status.NotReady}, false, "NOT_READY 1 since 1m0s"},
		{"one that is between", status.Success, status.Observation{}, status.Verdict{Status: status.NotReady}, true, "SUCCESS 2 since 20s"},
		{"one that was cut", status.Success, stopped, status.Verdict{Status: status.NotReady}, false, "SUCCESS 2 since 20s"},
		{"one that was abandoned", status.Error, status.Observation{}, abandoned, false, "ERROR 2 since 20s"},
		{"one that was cut after NOT_READY", status.NotReady, stopped, status.Verdict{Status: status.NotReady}, false, "NOT_READY 0 since 20s"},
		{"the first one, which was cut", status.None, stopped, status.Verdict{Status: status.NotReady}, false, "NOT_READY 0 since 20s"},
	} {
		s := State{Start: begun, Status: test.before, Streak: 2, Since: begun.Add(20 * time.Second)}
		if test.before == status.None {
			s.Streak = 0
		}
		s = conclude(s, &conclusion{observation: &test.o, verdict: test.v}, test.isBetween, begun.Add(time.Minute))
		if have := fmt.Sprintf("%s %d since %s", s.Status, s.Streak, s.Since.Sub(begun)); have != test.want {
			t.Errorf("%s: have %s, want %s", test.name, have, test.want)
		}
	}
}
