package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
)

func TestTable_Rows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table table
		want  []row
	}{
		{"bounded by attempts", table{attempts: 3}, []row{
			plain(1, 100*ms, 100*ms), plain(2, 200*ms, 300*ms), plain(3, 400*ms, 700*ms),
		}},
		{"bounded by time, which still counts", table{timeout: 300 * ms}, []row{
			plain(1, 100*ms, 100*ms), plain(2, 200*ms, 300*ms),
		}},
		{"immediate", table{attempts: 3, immediate: true}, []row{
			plain(1, 0, 0), plain(2, 200*ms, 200*ms), plain(3, 400*ms, 600*ms),
		}},
		{"initial delay", table{attempts: 2, initialDelay: s}, []row{
			plain(1, 100*ms, 1100*ms), plain(2, 200*ms, 1300*ms),
		}},
		{"full jitter", table{schedule: backoff.Full(nil), attempts: 2}, []row{
			{1, 50 * ms, 0, 100 * ms, 50 * ms, 0, 100 * ms},
			{2, 100 * ms, 0, 200 * ms, 150 * ms, 0, 300 * ms},
		}},
		{"equal jitter", table{schedule: backoff.Equal(nil), attempts: 2}, []row{
			{1, 75 * ms, 50 * ms, 100 * ms, 75 * ms, 50 * ms, 100 * ms},
			{2, 150 * ms, 100 * ms, 200 * ms, 225 * ms, 150 * ms, 300 * ms},
		}},
		{"decorrelated, whose mean grows by half", table{schedule: backoff.Decorrelated{}, attempts: 3}, []row{
			{1, 200 * ms, 100 * ms, 300 * ms, 200 * ms, 100 * ms, 300 * ms},
			{2, 350 * ms, 100 * ms, 900 * ms, 550 * ms, 200 * ms, 1200 * ms},
			{3, 575 * ms, 100 * ms, 2700 * ms, 1125 * ms, 300 * ms, 3900 * ms},
		}},
		{"nothing to show", table{timeout: 99 * ms}, nil},
		{"bounds that are alike at the cap", table{schedule: backoff.Cap(backoff.Decorrelated{}, 100*ms), attempts: 1}, []row{plain(1, 100*ms, 100*ms)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.table.schedule == nil {
				tt.table.schedule = backoff.Exponential{}
			}
			got := slices.Collect(tt.table.rows())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// plain is a row without chance in it.
func plain(attempt int, wait, at time.Duration) row {
	return row{attempt, wait, wait, wait, at, at, at}
}

// The computed means of the schedules whose means have no simple formula agree
// with those of many random walks.
func TestTable_meansAgreeWithRandomWalks(t *testing.T) {
	t.Parallel()
	const walks, steps = 50_000, 30
	for name, schedule := range map[string]backoff.Schedule{
		"capped decorrelated": backoff.Cap(backoff.Decorrelated{}, 20*s),
		"capped late":         backoff.Cap(backoff.Decorrelated{}, 2*time.Hour),
		"tightly capped":      backoff.Cap(backoff.Decorrelated{}, 250*ms),
		"capped polynomial":   backoff.Cap(backoff.Polynomial{Spread: railsSpread}, 20*s),
		"cap around full":     backoff.Cap(backoff.Full(nil), s),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total := make([]float64, steps)
			r := rand.New(rand.NewPCG(7, 0))
			for range walks {
				n := 0
				for wait := range backoff.Waits(schedule, r) {
					total[n] += wait.Seconds() / walks
					if n++; n == steps {
						break
					}
				}
			}
			for row := range (table{schedule: schedule, attempts: steps}).rows() {
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
