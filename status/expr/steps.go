package expr

import (
	"regexp"
	"time"
)

// What an evaluation costs is counted in steps: one for each byte that is looked
// at, and some for each path, element and comparison. The count shows that the
// cost grows with the document times the length of the expression and no faster,
// and it says when to look at the context.
const (
	baseSteps  = 64      // of anything else that is cheap
	lookSteps  = 1 << 16 // between two looks at the context
	quickSteps = 1 << 25 // before the first look, some 50 ms: a quick evaluation is not abandoned
)

// abandoned is the panic that ends an evaluation for which there is no time left.
type abandoned struct{}

// tick counts n steps, and now and then looks at the context.
func (e *evaluator) tick(n int) {
	if e.steps += n; e.steps >= e.look {
		e.checkContext()
	}
}

func (e *evaluator) checkContext() {
	if ctx := e.env.Context; ctx != nil && ctx.Err() != nil {
		panic(abandoned{})
	}
	e.look = e.steps + lookSteps
}

// grow counts n bytes that a modifier adds to a value, and reports whether so much may be
// added. Most modifiers add little, but @tostr after @tostr doubles the value, and @group
// repeats keys.
func (e *evaluator) grow(n int) bool {
	const usual = 16 // times the answer
	answer := len(e.env.Body) + len(e.env.Stdout) + len(e.env.Stderr)
	if e.env.Doc != nil {
		answer += len(e.env.Doc.text)
	}
	if n > maxResult || e.grown+n > (usual+len(e.expr.src)/usual)*(usual+answer) {
		return false
	}
	e.tick(n)
	e.grown += n
	return true
}

// A pattern that may take longer than asideSteps is matched in a goroutine, since it
// cannot be interrupted. Once the context is done, it gets asideGrace to finish.
const (
	asideSteps = lookSteps
	asideGrace = 50 * time.Millisecond
)

// match reports whether a pattern matches a text. It takes time by the product of their
// lengths.
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
