package backoff

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestExponential_At(t *testing.T) {
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
		e := Exponential{Base: s, Factor: tt.factor}
		at := e.At(tt.n)
		if got := at.Seconds(); math.Abs(got-tt.at) > 0.0005 {
			t.Errorf("factor %v: T_%d = %.4fs, want %.3fs", tt.factor, tt.n, got, tt.at)
		}
		if got := e.Wait(Step{N: tt.n}, nil).Seconds(); math.Abs(got-tt.next) > 0.0006 {
			t.Errorf("factor %v: wait %d is %.4fs, want %.3fs", tt.factor, tt.n, got, tt.next)
		}
	}
}

// The closed forms agree with a walk along the schedule.
func TestExponential_attemptsBy(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1, 1.000001, 1.1, 1.5, 2, 10} {
		e := Exponential{Base: s, Factor: factor}
		var at time.Duration
		n := 0
		for wait := range Waits(e, nil) {
			at += wait
			n++
			if n > 100 || at > 1e6*s {
				break
			}
			if diff := e.At(n) - at; diff.Abs() > time.Microsecond {
				t.Errorf("factor %v: T_%d = %v, walked there at %v", factor, n, e.At(n), at)
			}
			if got := e.attemptsBy(e.At(n)); got != n {
				t.Errorf("factor %v: %d attempts by T_%d", factor, got, n)
			}
			if got := e.attemptsBy(e.At(n) - 1); got != n-1 {
				t.Errorf("factor %v: %d attempts just before T_%d", factor, got, n)
			}
		}
	}
}

func TestExponential_attemptsBy_extremes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		e       Exponential
		elapsed time.Duration
		want    int
	}{
		{Exponential{}, 0, 0},
		{Exponential{}, -s, 0},
		{Exponential{}, 99 * ms, 0},
		{Exponential{Base: 1, Factor: 1}, forever, math.MaxInt32},
		{Exponential{Base: s, Factor: 0.5}, 10 * s, math.MaxInt32}, // adds up to 2s only
		{Exponential{Base: 1}, forever, 63},
	} {
		if got := tt.e.attemptsBy(tt.elapsed); got != tt.want {
			t.Errorf("%+v: %d attempts by %v, want %d", tt.e, got, tt.elapsed, tt.want)
		}
	}
}

func TestFactorForWait(t *testing.T) {
	t.Parallel()
	got, err := FactorForWait(s, 101*s, 1000*s)
	if err != nil || got != 1.1 {
		t.Errorf("factor %v, %v, want 1.1", got, err)
	}
	// The schedule does what was asked for: its wait at T is Base + (Factor - 1) T.
	factor, err := FactorForWait(100*ms, 100*s, 1000*s)
	if err != nil {
		t.Fatal(err)
	}
	if got := 0.1 + (factor-1)*1000; math.Abs(got-100) > 1e-9 {
		t.Errorf("with factor %v waits %vs at 1000s, want 100s", factor, got)
	}
	for _, tt := range []struct {
		base, wait, at time.Duration
		parameter      string
	}{
		{0, s, s, "base"},
		{s, 999 * ms, s, "wait"},
		{s, s, 0, "at"},
	} {
		_, err := FactorForWait(tt.base, tt.wait, tt.at)
		checkParameter(t, err, tt.parameter)
	}
}

func TestFactorForOvershoot(t *testing.T) {
	t.Parallel()
	if got, err := FactorForOvershoot(0.1); err != nil || got != 1.1 {
		t.Errorf("factor %v, %v, want 1.1", got, err)
	}
	for _, overshoot := range []float64{0, -0.1, math.NaN(), math.Inf(1)} {
		_, err := FactorForOvershoot(overshoot)
		checkParameter(t, err, "overshoot")
	}
}

func TestTune(t *testing.T) {
	t.Parallel()
	got := Tune(Exponential{Base: s, Factor: 1.1}, 1000*s)
	want := Tuning{
		Schedule:        Exponential{Base: s, Factor: 1.1},
		Attempts:        48,
		AttemptsFactor2: 9, // five times fewer in practice, seven times in the limit
		Ratio:           7.2725,
		Last:            960_172 * ms,
		NextWait:        97_017 * ms,
	}
	got.Last, got.NextWait = got.Last.Round(ms), got.NextWait.Round(ms)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.0001)); diff != "" {
		t.Errorf("tuning (-want +got):\n%s", diff)
	}
}

func checkParameter(t *testing.T, err error, want string) {
	t.Helper()
	if problem, ok := errors.AsType[*ParameterError](err); !ok || problem.Parameter != want {
		t.Errorf("error %v, want one about %s", err, want)
	}
}
