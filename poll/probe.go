package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/status"
)

// An Attempt is what a probe is told about the execution it is asked for.
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since the start of the run
	Previous status.Status // of the attempt before, None for the first
	// LastLook is true when no time for another attempt may be left after this one.
	LastLook bool
}

// A Probe looks at the operation once.
//
// It returns when the answer is complete, or soon after ctx is done; what went
// wrong is part of the observation. A Probe that keeps something from one
// attempt to the next (an ETag, the URL to follow) implements [Sessioner].
type Probe interface {
	Probe(ctx context.Context, a Attempt) status.Observation
}

// A Sessioner is a Probe with state that belongs to one run. A run asks it for
// a session first and then probes that; the Sessioner itself stays unchanged,
// so that it can be used for several runs, also at once.
type Sessioner interface {
	Probe
	Session() Probe
}

// A Starter is a Probe, or a session, that first starts the operation it then
// looks at. While StartDue reports true the next attempt does so, or tries to.
// The run makes that attempt at once, since waiting is for what goes on already.
type Starter interface {
	StartDue() bool
}

// A Finisher is a Probe, or a session, whose result is not the answer that
// said SUCCESS but another document.
//
// Result returns the probe that looks for it and what that asks, in words; nil
// where last is the result itself. The first look belongs to the attempt that
// said SUCCESS. Those that follow are attempts like any other, judged without
// the rules of the run, which are about the operation.
type Finisher interface {
	Result(last status.Observation) (look Probe, what string)
}

// A Targeter is a Probe that can name what it looks at, without a secret.
type Targeter interface {
	Probe
	Target() string
}

// A ProbeFunc is a Probe of one's own. [Observe] makes what it returns: a
// document for the rules, or a failure.
type ProbeFunc func(ctx context.Context, a Attempt) status.Observation

// Probe calls f.
func (f ProbeFunc) Probe(ctx context.Context, a Attempt) status.Observation { return f(ctx, a) }

// A Checker is a Probe that can tell before the first attempt, without one,
// that it cannot work. The error is free of secrets; for a program that cannot
// be run it is a [*status.Failure].
type Checker interface {
	Check() error
}
