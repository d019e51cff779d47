package main

// columns are what is evaluated: the costs of five policies and their lower bound,
// then the polls and the delay of the learner.
var columns = [...]string{"aws", "f1.1", "best fixed", "learned, exact", "learned", "optimum", "polls", "delay"}

// A result has a mean over the keys of a trace for each column: polls are a number
// for each run, all others percentages of the median run of each key.
type result [len(columns)]float64

// evaluate returns what the policies cost if a poll is worth that share of the
// median of a key.
func evaluate(t trace, share float64) (result, error) {
	var mean result
	for _, k := range t.keys {
		r, err := evaluateKey(k, share)
		if err != nil {
			return result{}, err
		}
		mean = mean.plus(r, 1/float64(len(t.keys)))
	}
	return mean, nil
}

func evaluateKey(k series, share float64) (result, error) {
	median := k.median()
	poll := share * median
	scored := k.durations[1:]
	percent := 100 / float64(len(scored)) / median

	exact, err := learned(k.durations, poll, true)
	if err != nil {
		return result{}, err
	}
	seen, err := learned(k.durations, poll, false)
	if err != nil {
		return result{}, err
	}
	return result{
		percent * follow(aws, scored).cost(poll),
		percent * follow(geometric, scored).cost(poll),
		percent * bestFixed(scored, poll).cost(poll),
		percent * exact.cost(poll),
		percent * seen.cost(poll),
		percent * optimum(scored, poll),
		seen.polls / float64(len(scored)),
		percent * seen.delay,
	}, nil
}

// plus adds o times weight.
func (r result) plus(o result, weight float64) result {
	for i := range r {
		r[i] += weight * o[i]
	}
	return r
}
