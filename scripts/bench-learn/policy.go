package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
)

// A score is the cost of waiting for some runs.
type score struct {
	polls, delay float64 // delay in seconds
}

func (s *score) add(o score) {
	s.polls += o.polls
	s.delay += o.delay
}

// cost returns the cost in seconds if a poll costs that many.
func (s score) cost(poll float64) float64 { return poll*s.polls + s.delay }

// aws is poll's default strategy, and geometric one that overshoots by 10%.
var (
	aws       = backoff.Cap(nil, 0)
	geometric = backoff.Exponential{Factor: 1.1}
)

// follow polls every run by the schedule.
func follow(s backoff.Schedule, durations []float64) score {
	var total score
	for _, d := range durations {
		one, _ := watch(s, d)
		total.add(one)
	}
	return total
}

// watch polls one run of that many seconds; it returns the cost, and the run as the attempts saw it.
func watch(s backoff.Schedule, seconds float64) (score, learn.Run) {
	duration := time.Duration(math.Round(seconds * 1e9))
	var (
		step backoff.Step
		run  learn.Run
	)
	for step.N == 0 || run.Hi < duration {
		step.Previous = s.Wait(step, nil)
		step.N++
		step.Elapsed += step.Previous
		run = learn.Run{Lo: run.Hi, Hi: step.Elapsed}
	}
	return score{float64(step.N), (run.Hi - duration).Seconds()}, run
}

// A learner is one way to learn from past runs.
type learner struct {
	options learn.Options
	exact   bool // it knows the durations of runs, not only the times of its own attempts
}

// A past run is known from the time on at which its wait ended.
type past struct {
	run   learn.Run
	known float64
}

// walk polls every run but the first by what the runs that had ended when it began have
// taught, in order of their ends; by the default strategy if there is none. The first run is
// not scored.
func (l learner) walk(k series) (score, error) {
	var (
		total   score
		ended   []learn.Run
		running []past
	)
	for i, d := range k.durations {
		now := k.started(i)
		slices.SortStableFunc(running, func(a, b past) int { return cmp.Compare(a.known, b.known) })
		for len(running) > 0 && running[0].known <= now {
			ended = append(ended, running[0].run)
			running = running[1:]
		}
		var schedule backoff.Schedule = aws
		if model, err := learn.Fit(ended, l.options); err == nil { // there is a run to learn from
			schedule = model
		}
		one, run := watch(schedule, d)
		if i > 0 {
			total.add(one)
		}
		if l.exact {
			run.Lo = time.Duration(math.Round(d * 1e9))
			run.Hi = run.Lo
		}
		running = append(running, past{run, k.starts[i] + run.Hi.Seconds()})
	}
	return total, nil
}

// bestFixed returns the score of the fixed interval cheapest in hindsight.
func bestFixed(durations []float64, poll float64) score {
	const steps = 600 // from a thousandth to ten times the longest run
	longest := slices.Max(durations)
	var best score
	for i := range steps {
		interval := longest * math.Pow(10, 4*float64(i)/(steps-1)-3)
		s := fixed(durations, interval)
		if i == 0 || s.cost(poll) < best.cost(poll) {
			best = s
		}
	}
	return best
}

func fixed(durations []float64, interval float64) score {
	var s score
	for _, d := range durations {
		n := math.Ceil(d / interval)
		s.add(score{n, n*interval - d})
	}
	return s
}

// optimum returns the cost in seconds of the cheapest polls for exactly these
// durations, by dynamic programming: a bound that no learner can reach.
func optimum(durations []float64, poll float64) float64 {
	x := slices.Sorted(slices.Values(durations))
	n := len(x)
	// best[i] is the cost of the runs from i on after a poll that saw none of them:
	// each pays for the next poll, which is at some x[j] and sees the runs up to j.
	best := make([]float64, n+1)
	for i := n - 1; i >= 0; i-- {
		best[i] = math.Inf(1)
		var sum float64
		for j := i; j < n; j++ {
			sum += x[j]
			delay := float64(j-i+1)*x[j] - sum
			best[i] = min(best[i], poll*float64(n-i)+delay+best[j+1])
		}
	}
	return best[0]
}
