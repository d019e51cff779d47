package expr

import (
	"regexp"
	"time"
)

// A pattern that may take longer than asideSteps is matched aside, for it cannot
// be interrupted; once the context is done it is waited for that long.
const (
	asideSteps = lookSteps
	asideGrace = 50 * time.Millisecond
)

// match reports whether a pattern matches a text. The time is that of the product
// of their lengths.
func (e *evaluator) match(pattern *regexp.Regexp, s string) bool {
	steps := len(s) * len(pattern.String())
	e.tick(baseSteps + steps)
	if steps < asideSteps || e.env.Context == nil {
		return pattern.MatchString(s)
	}
	matched := make(chan bool, 1)
	go func() { matched <- pattern.MatchString(s) }()
	select {
	case m := <-matched:
		return m
	case <-e.env.Context.Done():
	}
	select {
	case m := <-matched:
		return m
	case <-time.After(asideGrace):
		panic(abandoned{})
	}
}
