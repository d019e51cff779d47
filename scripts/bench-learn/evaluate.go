package main

// A result holds means over the keys of a trace, as percentages of the median run
// of each key; polls is a number per run.
type result struct {
	aws, geometric, fixed, exact, seen, optimum float64 // costs
	polls, delay                                float64 // of seen
}

// evaluate returns what the policies cost if a poll costs that share of the median
// of a key.
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
		aws:       percent * follow(aws, scored).cost(poll),
		geometric: percent * follow(geometric, scored).cost(poll),
		fixed:     percent * bestFixed(scored, poll).cost(poll),
		exact:     percent * exact.cost(poll),
		seen:      percent * seen.cost(poll),
		optimum:   percent * optimum(scored, poll),
		polls:     seen.polls / float64(len(scored)),
		delay:     percent * seen.delay,
	}, nil
}

// plus returns r + o*weight.
func (r result) plus(o result, weight float64) result {
	return result{
		aws:       r.aws + weight*o.aws,
		geometric: r.geometric + weight*o.geometric,
		fixed:     r.fixed + weight*o.fixed,
		exact:     r.exact + weight*o.exact,
		seen:      r.seen + weight*o.seen,
		optimum:   r.optimum + weight*o.optimum,
		polls:     r.polls + weight*o.polls,
		delay:     r.delay + weight*o.delay,
	}
}
