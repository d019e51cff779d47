package cli

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// answerAt is the answer of an operation that is done by then.
func answerAt(done time.Time) status.Observation {
	code := 202
	if !time.Now().Before(done) {
		code = 200
	}
	return status.Observation{Kind: status.KindHTTP, Code: &code}
}

// A posted is an operation that the first attempt starts, which takes a while
// itself.
type posted struct {
	took  time.Duration
	sent  time.Time // when the start was
	begun time.Time // when it was answered
}

const postTakes = time.Second

func (p *posted) StartDue() bool { return p.begun.IsZero() }

func (p *posted) Look(context.Context, poll.Attempt) status.Observation {
	if !p.StartDue() {
		return answerAt(p.begun.Add(p.took))
	}
	p.sent = time.Now()
	time.Sleep(postTakes)
	p.begun = time.Now()
	o := answerAt(p.begun.Add(p.took))
	o.Following.Start, o.Following.Next = true, "http://test/operation"
	return o
}

// waitBy waits by the program but for its probe, as the flags say. It returns how long it goes on
// after the operation, which takes so long.
func waitBy(t *testing.T, probe poll.Probe, took time.Duration, flags ...string) (delay time.Duration) {
	t.Helper()
	streams, _, _ := term.Buffers("")
	world := World{Args: append(flags, "--timeout=0", "http://test/"), Streams: streams,
		Lookup: func(string) (string, bool) { return "", false }, began: time.Now()}
	_, err := world.run(t.Context(), newSpec(), func(ctx context.Context, s *Spec) error {
		w := newWait(s, world)
		if err := w.read(ctx); err != nil {
			return err
		}
		began := time.Now()
		w.targets[0].poller.Probe = probe
		if err := w.run(ctx); err != nil {
			return err
		}
		delay = time.Since(began) - took
		return w.result.Outcome.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return delay
}

// A job is an operation that recurs, and the history of it.
type job struct {
	t     *testing.T
	flags []string
	rand  *rand.Rand
}

func newJob(t *testing.T, seed uint64, flags ...string) *job {
	dir := t.TempDir()
	return &job{t, append(flags, "--learn=job", "--history="+dir), rand.New(rand.NewPCG(seed, 7))}
}

// wait waits for a run that takes about so many seconds: 10% more or less.
func (j *job) wait(seconds float64) {
	took := time.Duration(1e9 * seconds * math.Exp(0.1*j.rand.NormFloat64()))
	done := time.Now().Add(took)
	waitBy(j.t, poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation { return answerAt(done) }), took, j.flags...)
}

// A job that the wait starts is started at once, however long past ones took,
// and what is learned of them does not grow: it is counted from the start.
func TestLearn_startedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 1)
		const took, runs = 2 * time.Second, 20
		for i := range runs {
			began, probe := time.Now(), &posted{took: took}
			delay := waitBy(t, probe, postTakes+took, j.flags...)
			if waited := probe.sent.Sub(began); waited != 0 {
				t.Errorf("run %d: started after %s", i+1, waited)
			}
			if i > 0 && delay > took/4 {
				t.Errorf("run %d: seen %s late", i+1, delay)
			}
		}
		dir := strings.TrimPrefix(j.flags[len(j.flags)-1], "--history=")
		records, _, err := store.History{Dir: dir}.Read("job")
		if err != nil || len(records) != runs {
			t.Fatalf("%d runs are remembered: %v", len(records), err)
		}
		for i, r := range records {
			if r.Lo >= took || r.Hi < took {
				t.Errorf("run %d: learned as %s to %s, took %s", i+1, r.Lo, r.Hi, took)
			}
		}
		m, err := learn.Fit(store.Runs(records), learn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if median := m.Quantile(0.5); median < 9*took/10 || median > 11*took/10 {
			t.Errorf("after %d runs the usual run is said to take %s, and took %s", runs, median, took)
		}
	})
}

// A start that was refused is sent again by the configured waits: the learned
// ones are for what goes on.
func TestLearn_startsAreSentAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t, 1)
		const took = 8 * time.Minute
		for range 3 {
			waitBy(t, &posted{took: took}, took, j.flags...)
		}
		began, probe := time.Now(), &refusedOnce{posted: posted{took: took}}
		waitBy(t, probe, took, j.flags...)
		if waited := probe.sent.Sub(began); waited != 100*time.Millisecond {
			t.Errorf("sent again after %s, want 100ms", waited)
		}
	})
}

// A refusedOnce is a posted whose first request never leaves.
type refusedOnce struct {
	posted
	tried bool
}

func (r *refusedOnce) Look(ctx context.Context, a poll.Attempt) status.Observation {
	if r.tried {
		return r.posted.Look(ctx, a)
	}
	r.tried = true
	return status.Observation{Kind: status.KindHTTP, Failure: &status.Failure{Kind: status.FailureTransient, Reason: "refused"}}
}

// After THROTTLED the wait is as long as by the model, and as long as by the
// flags.
func TestLearn_throttled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		seconds float64 // of past runs
		flags   []string
		least   time.Duration
	}{
		{"by the model", 3600, nil, 2 * time.Minute},
		{"by the flags", 10, []string{"--base=1s", "--factor=10"}, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newJob(t, 1, tt.flags...)
				for range 5 {
					j.wait(tt.seconds)
				}
				var attempts []time.Time
				waitBy(t, poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation {
					attempts = append(attempts, time.Now())
					code := 200
					if len(attempts) == 1 {
						code = 429
					}
					return status.Observation{Kind: status.KindHTTP, Code: &code}
				}), 0, j.flags...)
				if waited := attempts[1].Sub(attempts[0]); waited < tt.least {
					t.Errorf("waited %v, want at least %v", waited, tt.least)
				}
			})
		})
	}
}
