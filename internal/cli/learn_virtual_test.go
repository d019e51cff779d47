package cli

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// A waited is what one wait came to.
type waited struct {
	attempts int
	delay    time.Duration // from the end of the operation to the end of the wait
	took     time.Duration // by the operation
	said     string
}

// cost is in seconds, when one attempt is worth so many.
func (w waited) cost(attempt float64) float64 {
	return attempt*float64(w.attempts) + w.delay.Seconds()
}

// waitFor waits in virtual time for an operation that takes so long and goes on
// already.
func waitFor(t *testing.T, took time.Duration, flags ...string) waited {
	t.Helper()
	began := time.Now()
	return waitBy(t, poll.ProbeFunc(func(context.Context, poll.Attempt) status.Observation {
		return answerAt(began.Add(took))
	}), took, flags...)
}

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

// waitBy waits by the program but for its probe, as the flags say.
func waitBy(t *testing.T, probe poll.Probe, took time.Duration, flags ...string) waited {
	t.Helper()
	result := waited{took: took}
	streams, _, said := term.Buffers("")
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
		outcome := w.result.Outcome
		result.attempts, result.delay = outcome.State.Attempts, time.Since(began)-took
		return outcome.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	result.said = said.String()
	return result
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
func (j *job) wait(seconds float64) waited {
	seconds *= math.Exp(0.1 * j.rand.NormFloat64())
	return waitFor(j.t, time.Duration(seconds*1e9), j.flags...)
}

// An operation that has become ten times slower costs at most one and a half
// times what the configured strategy costs, and ten runs later that is over.
func TestLearn_tenTimesSlower(t *testing.T) {
	t.Parallel()
	for _, median := range []float64{2, 60, 3600} {
		for _, runs := range []int{1, 10} {
			t.Run(fmt.Sprintf("%d runs of %vs", runs, median), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					const jobs = 4
					var first, configured, tenth float64
					for seed := range uint64(jobs) {
						j := newJob(t, seed)
						for range runs {
							j.wait(median)
						}
						for i := range 10 {
							w := j.wait((9.1 + 0.6*float64(seed)) * median)
							switch i {
							case 0:
								attempt := 0.01 * median
								first += w.cost(attempt)
								configured += waitFor(t, w.took).cost(attempt)
							case 9:
								tenth += w.cost(0.1*median) / w.took.Seconds() / jobs
							}
						}
					}
					t.Logf("the first slow run costs %.2f of the configured strategy, the tenth %.0f%% of its length", first/configured, 100*tenth)
					if first > 1.5*configured {
						t.Errorf("the first slow run costs %.2f of the configured strategy, want at most 1.5", first/configured)
					}
					if tenth > 0.25 {
						t.Errorf("the tenth slow run costs %.0f%% of its length, want at most 25%%", 100*tenth)
					}
				})
			})
		}
	}
}

// One that has become ten times faster is seen at most the past median late, and ten
// runs later as ever.
func TestLearn_tenTimesFaster(t *testing.T) {
	t.Parallel()
	for _, median := range []float64{10, 60, 3600} {
		for _, runs := range []int{1, 10} {
			t.Run(fmt.Sprintf("%d runs of %vs", runs, median), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					const jobs = 4
					var most, tenth float64
					for seed := range uint64(jobs) {
						j := newJob(t, seed)
						var past []float64
						for range runs {
							past = append(past, j.wait(median).took.Seconds())
						}
						slices.Sort(past)
						for i := range 10 {
							w := j.wait(median / 10)
							switch i {
							case 0:
								most = max(most, w.delay.Seconds()/past[len(past)/2])
							case 9:
								tenth += w.delay.Seconds() / w.took.Seconds() / jobs
							}
						}
					}
					t.Logf("the first fast run is seen %.2f medians late, the tenth %.0f%% of its length", most, 100*tenth)
					if most > 1 {
						t.Errorf("the first fast run is seen %.2f medians late, want at most 1", most)
					}
					if tenth > 0.15 {
						t.Errorf("the tenth fast run is seen %.0f%% of its length late, want at most 15%%", 100*tenth)
					}
				})
			})
		}
	}
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
			w := waitBy(t, probe, postTakes+took, j.flags...)
			if waited := probe.sent.Sub(began); waited != 0 {
				t.Errorf("run %d: started after %s", i+1, waited)
			}
			if i > 0 && w.delay > took/4 {
				t.Errorf("run %d: seen %s late", i+1, w.delay)
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
