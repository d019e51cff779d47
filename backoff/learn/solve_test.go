package learn

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func fitted(seed uint64, n int, spread float64) forecast {
	r := rand.New(rand.NewPCG(seed, 4))
	e := newExperts()
	for range n {
		d := time.Duration(60e9 * math.Exp(spread*r.NormFloat64()))
		e.learn(Run{Lo: d * 9 / 10, Hi: d})
	}
	return e.forecast()
}

// Trying few ages finds the same cost as trying every pair of ages.
func TestSolve_everyPair(t *testing.T) {
	for seed := range uint64(6) {
		f := fitted(seed, 1+int(seed*seed), 0.1+0.1*float64(seed))
		for _, share := range []float64{0.001, 0.01, 0.1, 1} {
			cost := share * f.median
			g := f.grid(cost)
			next := g.solve(cost, f)
			n := len(g.ages)
			best, found := make([]float64, n), make([]float64, n)
			best[n-1] = 2 * f.broad * f.median * math.Sqrt(2*cost/(f.median+g.ages[n-1]))
			found[n-1] = best[n-1]
			for i := n - 2; i >= 0; i-- {
				value := func(j int, then []float64) float64 {
					return cost*g.survival[i] + (g.ages[j]-g.ages[i])*g.survival[i] - (g.lived[j] - g.lived[i]) + then[j]
				}
				best[i] = math.Inf(1)
				for j := i + 1; j < n; j++ {
					best[i] = min(best[i], value(j, best))
				}
				found[i] = value(int(next[i]), found)
			}
			for i := range n {
				if math.Abs(found[i]-best[i]) > 1e-9*f.median {
					t.Fatalf("seed %d, share %v: from age %d of %d the attempts cost %v, the best %v", seed, share, i, n, found[i], best[i])
				}
			}
		}
	}
}
