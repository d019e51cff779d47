package main

import (
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
)

// A result holds means over the keys of a trace, as percentages of the median run
// of each key; polls is a number per run.
type result struct {
	aws, geometric, fixed, optimum float64 // costs of schedules that learn nothing

	// Costs of learners. Two are told in seconds what a poll costs, so they know the median of
	// the key, and one of them all durations, too; the last are as the command line is by default.
	exact, told, defaults float64

	polls, delay float64 // of defaults
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
	runs := float64(len(scored))
	percent := 100 / runs / median

	told := learn.Options{Cost: time.Duration(poll * 1e9)}
	defaults := learn.Options{CostShare: share, Base: backoff.DefaultBase}
	var scores [3]score
	for i, l := range []learner{{told, true}, {told, false}, {defaults, false}} {
		var err error
		if scores[i], err = l.walk(k); err != nil {
			return result{}, err
		}
	}
	return result{
		aws:       percent * follow(aws, scored).cost(poll),
		geometric: percent * follow(geometric, scored).cost(poll),
		fixed:     percent * bestFixed(scored, poll).cost(poll),
		optimum:   percent * optimum(scored, poll),
		exact:     percent * scores[0].cost(poll),
		told:      percent * scores[1].cost(poll),
		defaults:  percent * scores[2].cost(poll),
		polls:     scores[2].polls / runs,
		delay:     percent * scores[2].delay,
	}, nil
}

// plus returns r + o*weight.
func (r result) plus(o result, weight float64) result {
	for _, f := range []struct {
		sum *float64
		one float64
	}{
		{&r.aws, o.aws}, {&r.geometric, o.geometric}, {&r.fixed, o.fixed}, {&r.optimum, o.optimum},
		{&r.exact, o.exact}, {&r.told, o.told}, {&r.defaults, o.defaults},
		{&r.polls, o.polls}, {&r.delay, o.delay},
	} {
		*f.sum += weight * f.one
	}
	return r
}
