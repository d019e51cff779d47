package commands

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/cli/read"
)

// For schedules without a simple formula for the mean, the means agree with the means of many random walks.
func TestTable_meansAgreeWithRandomWalks(t *testing.T) {
	t.Parallel()
	const walks, steps = 50_000, 30
	for name, schedule := range map[string]backoff.Schedule{
		"capped decorrelated": backoff.Cap(backoff.Decorrelated{}, 20*s),
		"capped late":         backoff.Cap(backoff.Decorrelated{}, 2*time.Hour),
		"tightly capped":      backoff.Cap(backoff.Decorrelated{}, 250*ms),
		"capped polynomial":   backoff.Cap(backoff.Polynomial{Spread: read.RailsSpread}, 20*s),
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
			rows, err := table{schedule: schedule, attempts: steps}.rows()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				want, got := total[row.Attempt-1], row.Wait.Seconds()
				tolerance := 0.08 // of the walks, whose tails are long, and of the sampled runs
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
