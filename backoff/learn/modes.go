package learn

import (
	"cmp"
	"math"
	"slices"
)

// Modes are told apart by a gap of at least a factor of two with no run in it,
// which is also wide against the spread of the runs on either side. Fewer runs
// than a share of modeWeight are an exception, such as an early failure, and no
// mode.
const (
	modeGap    = math.Ln2
	modeSpread = 4 // standard deviations
	modeWeight = 0.15
)

// A mode is one way in which an operation goes, such as a build with a warm
// cache and one without: at least two runs, far from all others.
type mode struct {
	ln, w  []float64 // logarithms and weights of its runs, shortest first
	median float64   // seconds
}

func (m mode) shortest() float64 { return math.Exp(m.ln[0]) }
func (m mode) longest() float64  { return math.Exp(m.ln[len(m.ln)-1]) }

// modes returns the modes of a sample, shortest first, or nothing if there are
// not at least two. A run far from all others belongs to none.
func (s sample) modes() []mode {
	order := make([]int, len(s.ln))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.ln[a], s.ln[b]) })

	var modes []mode
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && s.ln[order[end]]-s.ln[order[end-1]] < modeGap {
			end++
		}
		if m := s.newMode(order[start:end]); end-start >= 2 && sum(m.w) >= modeWeight {
			modes = append(modes, m)
		}
		start = end
	}
	if len(modes) < 2 || !apart(modes) {
		return nil
	}
	return modes
}

func (s sample) newMode(runs []int) mode {
	var m mode
	for _, i := range runs {
		m.ln = append(m.ln, s.ln[i])
		m.w = append(m.w, s.w[i])
	}
	m.median = math.Exp(quantile(m.ln, 0.5))
	return m
}

// apart says whether every gap is wide against the spread within the modes.
func apart(modes []mode) bool {
	spread := math.Sqrt(within(modes))
	for i := 1; i < len(modes); i++ {
		if modes[i].ln[0]-modes[i-1].ln[len(modes[i-1].ln)-1] < modeSpread*spread {
			return false
		}
	}
	return true
}

// within is the weighted variance of the logarithms around those of the modes.
func within(modes []mode) float64 {
	var squares, weight float64
	for _, m := range modes {
		_, variance := moments(m.ln, m.w)
		squares += sum(m.w) * variance
		weight += sum(m.w)
	}
	return squares / weight
}
