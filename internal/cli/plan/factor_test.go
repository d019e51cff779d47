package plan

import (
	"math"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

func TestGrowth_start(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		factor float64
		n      int
		at     float64 // seconds, to the millisecond
		next   float64
	}{
		{2, 10, 1023, 1024},
		{1.1, 48, 960.172, 97.017},
		{1.1, 49, 1057.190, 106.719},
		{1, 5, 5, 1},
	} {
		e := growth{Base: s, Factor: tt.factor}
		at := e.start(tt.n)
		if got := at.Seconds(); math.Abs(got-tt.at) > 0.0005 {
			t.Errorf("factor %v: T_%d = %.4fs, want %.3fs", tt.factor, tt.n, got, tt.at)
		}
		if got := e.wait(tt.n).Seconds(); math.Abs(got-tt.next) > 0.0006 {
			t.Errorf("factor %v: wait %d is %.4fs, want %.3fs", tt.factor, tt.n, got, tt.next)
		}
	}
}

// The closed forms agree with a walk along the schedule.
func TestGrowth_attemptsBy(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1, 1.000001, 1.1, 1.5, 2, 10} {
		e := growth{Base: s, Factor: factor}
		var at time.Duration
		n := 0
		for wait := range backoff.Waits(backoff.Exponential(e), nil) {
			at += wait
			n++
			if n > 100 || at > 1e6*s {
				break
			}
			if diff := e.start(n) - at; diff.Abs() > time.Microsecond {
				t.Errorf("factor %v: T_%d = %v, walked there at %v", factor, n, e.start(n), at)
			}
			if got := e.attemptsBy(e.start(n)); got != n {
				t.Errorf("factor %v: %d attempts by T_%d", factor, got, n)
			}
			if got := e.attemptsBy(e.start(n) - 1); got != n-1 {
				t.Errorf("factor %v: %d attempts just before T_%d", factor, got, n)
			}
		}
	}
}

func TestGrowth_attemptsBy_extremes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		e       growth
		elapsed time.Duration
		want    int
	}{
		{growth{Base: 100 * ms, Factor: 2}, 0, 0},
		{growth{Base: 100 * ms, Factor: 2}, 99 * ms, 0},
		{growth{Base: 1, Factor: 1}, math.MaxInt64, math.MaxInt32},
		{growth{Base: 1, Factor: 2}, math.MaxInt64, 63},
	} {
		if got := tt.e.attemptsBy(tt.elapsed); got != tt.want {
			t.Errorf("%+v: %d attempts by %v, want %d", tt.e, got, tt.elapsed, tt.want)
		}
	}
}

// Five times fewer attempts in practice, seven times in the limit.
func TestJudge(t *testing.T) {
	t.Parallel()
	got := judge(goal{base: s, factor: 1.1, until: 1000 * s})
	if got.attempts != 48 || got.other != 9 {
		t.Errorf("%d attempts, and %d with a factor of 2, want 48 and 9", got.attempts, got.other)
	}
	if got.last.Round(ms) != 960_172*ms || got.next.Round(ms) != 97_017*ms {
		t.Errorf("the last at %v, the next %v later, want 960.172s and 97.017s", got.last, got.next)
	}
}
