package learn

import "math"

// The experts: each forecasts the next run by kernels of some width, and with some way to weigh
// past runs.
const (
	families = 4 // halfLives, and one that knows the run before
	widths   = 4
)

var (
	halfLives  = [families - 1]float64{3, 15, 60} // in runs
	bandwidths = [widths]float64{0.15, 0.35, 0.7, 1.4}
)

const (
	ordinaryFamily, ordinaryWidth = 1, 2 // indices of what does well everywhere

	// share is the part of the experts' weights that is spread over all of them after each
	// run, so that another may take the lead (Herbster & Warmuth 1998).
	share = 0.02

	// unlike is what a run weighs whose predecessor was quite unlike the last one.
	unlike = 0.01
)

// experts learn from one run after the other.
type experts struct {
	bell    *bell
	past    sample
	streak  float64 // the chance of so many runs in a row that had ended by their first attempts
	last    float64 // the place of the newest run
	views   [families]view
	weights [families][widths]float64        // add up to 1
	recency [len(halfLives)][maxRuns]float64 // what a run weighs so many runs later
}

// newExperts returns experts who will learn from that many runs.
func newExperts(runs int) *experts {
	e := &experts{bell: newBell(), past: make(sample, 0, runs), last: math.NaN(), streak: 1}
	for f := range e.views {
		e.views[f] = view{weights: make([]float64, 0, runs), logs: make([]float64, 0, runs)}
	}
	for f := range e.weights {
		for w := range e.weights[f] {
			e.weights[f][w] = 1.0 / (families * widths)
		}
	}
	for f, halfLife := range halfLives {
		for i := range e.recency[f] {
			e.recency[f][i] = math.Exp2(-float64(i) / halfLife)
		}
	}
	return e
}

// learn weighs the experts by the chances that they gave to a run, then adds it to what they
// know.
func (e *experts) learn(r Run) {
	low, high := r.bracket()
	p := point{order: len(e.past), previous: e.last, open: r.Unfinished}
	chance := 1.0
	if p.order > 0 {
		chance = e.judge(low, high)
	}
	if low > math.Inf(-1) {
		e.streak = 1
	} else {
		e.streak *= chance
	}
	switch v := &e.views[ordinaryFamily]; {
	case p.open:
		// If no other took longer, the median of those that take longer by the broad component.
		age := math.Exp(low)
		p.ln, p.place = low, math.Log(2*age+v.median)
	case p.order == 0 || r.Lo >= r.Hi:
		p.ln = math.Log(math.Exp(low)/2 + math.Exp(high)/2)
		p.place = p.ln
	case e.streak < share:
		p.ln = e.views[0].unknown().within(e.bell, low, high, 1)
		p.place = p.ln
	default:
		p.ln = v.within(e.bell, low, high, v.bandwidth(bandwidths[ordinaryWidth]))
		p.place = p.ln
	}
	e.past.insert(p)
	e.last = p.place
	e.look()
}

// judge gives the experts the weights that follow from their forecasts of a run, and returns the
// chance that they gave to it together.
func (e *experts) judge(low, high float64) float64 {
	var total float64
	for f := range e.weights {
		for w := range e.weights[f] {
			v := &e.views[f]
			e.weights[f][w] *= v.chance(e.bell, low, high, v.bandwidth(bandwidths[w]))
			total += e.weights[f][w]
		}
	}
	const each = 1.0 / (families * widths)
	for f := range e.weights {
		for w := range e.weights[f] {
			e.weights[f][w] = share*each + (1-share)*e.weights[f][w]/total
		}
	}
	return total
}

// look lets all families see the past.
func (e *experts) look() {
	n := len(e.past)
	for f := range halfLives {
		e.views[f].look(e.past, func(p point) float64 { return e.recency[f][n-1-p.order] })
	}
	all := len(halfLives) - 1
	scale := 1 / e.views[all].bandwidth(bandwidths[ordinaryWidth])
	e.views[families-1].look(e.past, func(p point) float64 {
		like := unlike
		if z := (p.previous - e.last) * scale; z > -reach && z < reach {
			like += math.Exp(-z * z / 2)
		}
		return like * e.recency[all][n-1-p.order]
	})
}
