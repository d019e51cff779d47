package backoff

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable_Rows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table Table
		want  []Row
	}{
		{"bounded by attempts", Table{Attempts: 3}, []Row{
			row(1, 100*ms, 100*ms), row(2, 200*ms, 300*ms), row(3, 400*ms, 700*ms),
		}},
		{"bounded by time, which still counts", Table{Timeout: 300 * ms}, []Row{
			row(1, 100*ms, 100*ms), row(2, 200*ms, 300*ms),
		}},
		{"immediate", Table{Attempts: 3, Immediate: true}, []Row{
			row(1, 0, 0), row(2, 200*ms, 200*ms), row(3, 400*ms, 600*ms),
		}},
		{"initial delay", Table{Attempts: 2, InitialDelay: s}, []Row{
			row(1, 100*ms, 1100*ms), row(2, 200*ms, 1300*ms),
		}},
		{"full jitter", Table{Schedule: Full{}, Attempts: 2}, []Row{
			{1, 50 * ms, 0, 100 * ms, 50 * ms, 0, 100 * ms},
			{2, 100 * ms, 0, 200 * ms, 150 * ms, 0, 300 * ms},
		}},
		{"equal jitter", Table{Schedule: Equal{}, Attempts: 2}, []Row{
			{1, 75 * ms, 50 * ms, 100 * ms, 75 * ms, 50 * ms, 100 * ms},
			{2, 150 * ms, 100 * ms, 200 * ms, 225 * ms, 150 * ms, 300 * ms},
		}},
		{"decorrelated, whose mean grows by half", Table{Schedule: Decorrelated{}, Attempts: 3}, []Row{
			{1, 200 * ms, 100 * ms, 300 * ms, 200 * ms, 100 * ms, 300 * ms},
			{2, 350 * ms, 100 * ms, 900 * ms, 550 * ms, 200 * ms, 1200 * ms},
			{3, 575 * ms, 100 * ms, 2700 * ms, 1125 * ms, 300 * ms, 3900 * ms},
		}},
		{"nothing to show", Table{Timeout: 99 * ms}, nil},
		{"bounds that are alike at the cap", Table{Schedule: Cap{Of: Decorrelated{}, Max: 100 * ms}, Attempts: 1}, []Row{row(1, 100*ms, 100*ms)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := slices.Collect(tt.table.Rows())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// row is a row without chance in it.
func row(attempt int, wait, at time.Duration) Row {
	return Row{attempt, wait, wait, wait, at, at, at}
}

// The computed means of the schedules whose means have no simple formula agree
// with those of many random walks.
func TestTable_meansAgreeWithRandomWalks(t *testing.T) {
	t.Parallel()
	const walks, steps = 50_000, 30
	for name, schedule := range map[string]Schedule{
		"capped decorrelated":  Cap{Of: Decorrelated{}, Max: 20 * s},
		"capped late":          Cap{Of: Decorrelated{}, Max: 2 * time.Hour},
		"tightly capped":       Cap{Of: Decorrelated{}, Max: 250 * ms},
		"throttled":            Throttled(Cap{Max: 20 * s}),
		"throttled polynomial": Throttled(Cap{Of: Polynomial{Spread: RailsSpread}}),
		"cap around full":      Cap{Of: Full{}, Max: s},
		"drawn differently":    ScheduleFunc(drawnByInt64),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total := make([]float64, steps)
			r := random(7)
			for range walks {
				n := 0
				for wait := range Waits(schedule, r) {
					total[n] += wait.Seconds() / walks
					if n++; n == steps {
						break
					}
				}
			}
			for row := range (Table{Schedule: schedule, Attempts: steps}).Rows() {
				want, got := total[row.Attempt-1], row.Wait.Seconds()
				tolerance := 0.03 // of the walks, whose tails are long
				if math.Abs(got-want) > tolerance*want {
					t.Errorf("attempt %d: mean %.4fs, want about %.4fs", row.Attempt, got, want)
				}
				if row.Wait < row.Min || row.Wait > row.Max {
					t.Errorf("attempt %d: mean %v outside of %v to %v", row.Attempt, row.Wait, row.Min, row.Max)
				}
			}
		})
	}
}

// drawnByInt64 is random, but not by Float64.
func drawnByInt64(_ Step, r *rand.Rand) time.Duration {
	return s + time.Duration(r.Int64N(int64(s)+1))
}
