package learn

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func fitted(seed uint64, n int, spread float64) forecast {
	r := rand.New(rand.NewPCG(seed, 4))
	e := newExperts(n)
	for range n {
		d := time.Duration(60e9 * math.Exp(spread*r.NormFloat64()))
		e.learn(Run{Lo: d * 9 / 10, Hi: d})
	}
	return e.forecast()
}

// expected returns what attempts at those ages cost, and those of the plan beyond.
func expected(f forecast, cost float64, next func(age float64) float64) float64 {
	const steps = 60
	var total, at float64
	for _, before := f.at(0); before > 1e-7; {
		to := next(at)
		total += cost * before
		for i := range steps {
			t := at + (float64(i)+0.5)/steps*(to-at)
			_, survival := f.at(t)
			total += (before - survival) * (to - at) / steps
		}
		at = to
		_, before = f.at(at)
	}
	return total
}

// The hull finds what trying every pair of ages finds.
func TestSolve_everyPair(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		f := fitted(seed, 1+int(seed*seed), 0.1+0.1*float64(seed))
		for _, share := range []float64{0.001, 0.01, 0.1, 1} {
			cost := share * f.median
			steps, _ := f.attempts(cost)
			g := f.subdivide(steps)
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

// The plan costs no more than the rule that it replaces, and no more if its attempts move.
func TestPlan_best(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		f := fitted(seed, 3+20*int(seed), 0.1+0.2*float64(seed))
		for _, share := range []float64{0.01, 0.05} {
			cost := share * f.median
			p := newPlan(f, cost)
			planned := expected(f, cost, p.next)
			rule := func(age float64) float64 { // steps of sqrt(h / (2 cost))
				for count := 0.0; count < 1; {
					density, survival := f.at(age)
					step := 0.01 * (age + f.median/10)
					count += step * math.Sqrt(density/survival/(2*cost))
					age += step
				}
				return age
			}
			if other := expected(f, cost, rule); planned > 1.002*other {
				t.Errorf("seed %d, share %v: the plan costs %v, attempts by the hazard %v", seed, share, planned, other)
			}
			for _, factor := range []float64{0.95, 1.05} {
				moved := func(age float64) float64 { return factor * p.next(age/factor) }
				if other := expected(f, cost, moved); planned > 1.002*other {
					t.Errorf("seed %d, share %v: the plan costs %v, and at %v times its ages %v", seed, share, planned, factor, other)
				}
			}
		}
	}
}

// The grid is finer than the gaps that are best, in the tail, too: attempts on a coarse grid cost
// more than those by the hazard.
func TestSubdivide(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		f := fitted(seed, 1+20*int(seed), 0.2)
		for _, share := range []float64{0.001, 0.01, 0.1} {
			steps, _ := f.attempts(share * f.median)
			next := f.subdivide(steps).solve(share*f.median, f)
			for i := 0; i < len(next) && int(next[i]) < len(next); i = int(next[i]) {
				if gap := int(next[i]) - i; gap < 4 {
					t.Errorf("seed %d, share %v: the attempts at ages %d and %d of %d have %d steps between them", seed, share, i, next[i], len(next), gap)
				}
			}
		}
	}
}

func TestBell(t *testing.T) {
	t.Parallel()
	b := newBell()
	for z := -7.0; z < 7; z += 0.013 {
		if have, want := b.below(z), 0.5*math.Erfc(-z/math.Sqrt2); math.Abs(have-want) > 1e-5 {
			t.Errorf("below(%v) = %v, want %v", z, have, want)
		}
	}
	if b.below(math.Inf(-1)) != 0 || b.below(math.Inf(1)) != 1 {
		t.Error("the ends are not 0 and 1")
	}
}

// The weight of a run that was given up goes to those that took longer, as Kaplan and Meier's
// estimate has it.
func TestView_unfinished(t *testing.T) {
	t.Parallel()
	s := sample{{ln: 1, order: 0}, {ln: 2, place: 9, open: true, order: 1}, {ln: 3, order: 2}, {ln: 4, order: 3}, {ln: 5, place: 7, open: true, order: 4}}
	var v view
	v.look(s, func(point) float64 { return 1 })
	want := map[float64]float64{1: 0.2, 3: 0.2 * 4 / 3, 4: 0.2 * 4 / 3, 7: 0.2 * 4 / 3}
	if len(v.logs) != len(want) {
		t.Fatalf("runs at %v, want %v", v.logs, want)
	}
	for i, ln := range v.logs {
		if math.Abs(v.weights[i]-want[ln]) > 1e-12 {
			t.Errorf("the run at %v weighs %v, want %v", ln, v.weights[i], want[ln])
		}
	}
}

// Of experts, those lead whose forecasts were right: steady runs want narrow kernels, changes
// short half-lives, and alternating runs one that knows the run before.
func TestExperts_lead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 5))
	feed := func(length func(i int) float64) *experts {
		e := newExperts(maxRuns)
		for i := range 80 {
			d := time.Duration(1e9 * length(i) * math.Exp(0.05*r.NormFloat64()))
			e.learn(Run{Lo: d, Hi: d})
		}
		return e
	}
	sum := func(w [widths]float64) float64 { return w[0] + w[1] + w[2] + w[3] }
	alternating := feed(func(i int) float64 { return []float64{10, 40}[i%2] })
	if knows := sum(alternating.weights[families-1]); knows < 0.8 {
		t.Errorf("of alternating runs, the experts that know the run before weigh %.2f", knows)
	}
	changing := feed(func(i int) float64 { return 10 * math.Exp2(float64(i/4)) })
	if short, long := sum(changing.weights[0]), sum(changing.weights[2]); short < 2*long {
		t.Errorf("of changing runs, experts that forget weigh %.2f, and those that do not %.2f", short, long)
	}
}
