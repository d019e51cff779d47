package poll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
)

// An Attempt tells a probe which attempt it makes.
type Attempt struct {
	Number   int           // from 1
	Elapsed  time.Duration // since the start of the run
	Previous status.Status // of the previous attempt; None for the first
	// LastLook is true when there may be no time left for another attempt.
	LastLook bool
}

// A Probe looks at the operation once.
//
// It returns when the answer is complete, or soon after ctx is done; what went
// wrong is part of the observation. A Probe that keeps something from one
// attempt to the next, such as an ETag, has a method Session() Probe: each wait probes a new
// session. A method Target() string names what is looked at in events, and Place() string
// what the attempts put load on, for the limits of a [Group].
type Probe interface {
	Probe(ctx context.Context, a Attempt) status.Observation
}

// What a Probe, or its session, can do besides looking. A stranger's probe may do it, too.
type (
	// A sessioner has state that belongs to one wait. The wait first asks it for a session and
	// then probes that. The sessioner itself stays unchanged, so several waits can use it at
	// once.
	sessioner interface{ Session() Probe }
	// A starter starts the operation before it looks at it. While StartDue reports true, the
	// next attempt is to start it. The first such attempt comes at once: there is nothing to
	// wait for yet.
	starter interface{ StartDue() bool }
	// A finisher has a result that may be in another document than the answer that said
	// SUCCESS. Result returns a function that looks at that document, and what it does, in
	// words: "get https://api.example.com/results/7". It returns nil if last is the result
	// itself. The first look belongs to the attempt that said SUCCESS. Later looks are attempts
	// like any other, but the rules of the wait, which are about the operation, do not apply.
	finisher interface {
		Result(last status.Observation) (look func(context.Context) status.Observation, what string)
	}
	// A checker can tell beforehand that it cannot work. The error holds no secret; for a
	// program that cannot be run it is a [*status.Failure].
	checker interface{ Check() error }
	// A targeter names what it looks at, without secrets.
	targeter interface{ Target() string }
	// A placer knows what its next attempt puts load on: the scheme, host and port of a URL,
	// the program of a command.
	placer interface{ Place() string }
	// A forker returns the session that looks at one of the operations that its last answer
	// has listed.
	forker interface {
		Lists() bool // reports whether its answers list operations
		Fork(element []byte) (Probe, error)
	}
	// A resumer can go on from what an earlier session of the same probe kept. Resume is
	// called before the first attempt; an error means that kept is of no use.
	resumer interface {
		Save() json.RawMessage
		Resume(kept json.RawMessage) error
	}
	// A sharer has answers that can be shared with other processes.
	sharer interface {
		// Identity returns all that makes the next attempt; nil if its answer must not be
		// shared, because it may change something. With a name, its user vouches that it does
		// not.
		Identity(name string) []byte
		// Leave returns what an answer left in the session: where to look next, and what makes
		// the next request conditional.
		Leave() json.RawMessage
		// Adopt takes over an answer, and what it left in the session of another.
		Adopt(o status.Observation, left json.RawMessage) error
	}
)

// A source is what is looked at again and again: the session of a probe, for a wait; or a list,
// whose elements have waits of their own. A source is in one of these states: it sleeps until it is
// due, stands in line for a step of its admission, or is busy in another goroutine with what the
// step asks, or the attempt.
type source struct {
	*wait // which sets the schedule; of a list, its lead
	order int
	place *place

	over    bool // there is nothing more to look for
	busy    bool
	wake    time.Time   // when it wakes
	at      int         // its index in the agenda
	step    int         // of its admission that comes next
	has     [steps]bool // the semaphores that it has acquired
	begun   time.Time   // the attempt that is under way
	granted bool        // the attempt is this process's, and the request may go now
	held    string      // why its place is closed until it is due, in words
	sharing *sharing    // nil unless its answers are shared with other processes
}

// all returns the waits that have not ended, that of a list first.
func (s *source) all() []*wait {
	waits := []*wait{s.wait}
	if s.list != nil {
		waits = append(waits, s.list.waiting...)
	}
	return waits
}

// do does what the step asks, or the attempt. It tells nothing, and touches nothing but the source.
func (s *source) do() {
	switch s.step {
	case claim:
		s.claim()
	case turn:
		s.reserve()
	case attempt:
		s.look()
		if s.place.limited && !s.isTaken() {
			s.tellLimiter(s.place.name, s.begun, s.last.observation, s.last.verdict)
		}
	}
}

// shares reports whether it has to be known who makes the next attempt. One that starts
// something is everybody's own.
func (s *source) shares() bool {
	_, ok := s.probe.(sharer) // and not its result
	return ok && s.p.Answers != nil && !s.startDue()
}

// isTaken reports whether the attempt is another process's.
func (s *source) isTaken() bool { return s.sharing != nil && s.sharing.answer != nil }

// look makes the attempt, and judges it.
func (s *source) look() {
	var o status.Observation
	var took time.Duration
	var pace request.Pace
	if s.place.limited {
		pace = &paced{source: s}
	}
	if s.isTaken() {
		o = *s.sharing.answer
	} else {
		o, took = s.wait.look(pace)
	}
	if s.sharing != nil {
		s.sharing.answered(o) // before the session goes on to a result
	}
	s.answered(o, took)
	if s.list == nil && s.unrunnable() == "" {
		s.lookForResult(pace)
	}
}

// look makes an attempt. The time that it may take does not count for its judgement.
// With a pace, the requests of an attempt are bounded one by one, without what they wait for.
func (w *wait) look(pace request.Pace) (status.Observation, time.Duration) {
	limit := w.p.AttemptTimeout
	session, isHTTP := w.probe.(httpSession)
	if (isHTTP || w.done != nil) && pace != nil {
		limit = 0
	}
	ctx, cancel := w.context(limit)
	defer cancel()
	if err := w.announce(); err != nil {
		return status.Observation{Failure: &status.Failure{Kind: status.FailureStopped, Reason: err.Error(), Err: err}}, 0
	}
	begun := time.Now()
	a := Attempt{Number: w.Attempts, Elapsed: begun.Sub(w.Start), Previous: w.Status, LastLook: w.LastLook}
	if isHTTP { // which takes the pace, too
		o := session.Look(ctx, request.Attempt{Last: a.LastLook, Pace: pace, Timeout: w.p.AttemptTimeout})
		return o, time.Since(begun)
	}
	o := w.probe.Probe(ctx, a)
	return o, time.Since(begun)
}

// announce tells that the next request is to start the operation. It must not be sent if that
// cannot be noted.
func (w *wait) announce() error {
	if !w.startDue() {
		return nil
	}
	w.Starting = true
	if w.p.Starting != nil {
		w.hopeless = w.p.Starting(w.State)
		w.unsent = w.hopeless != nil
		w.Starting = !w.unsent
	}
	return w.hopeless
}

// startDue reports whether the next attempt is to start the operation.
func (w *wait) startDue() bool {
	s, ok := w.probe.(starter)
	return ok && s.StartDue()
}

// keptBody is how much is kept of an answer that did not end a wait in a group, in bytes. It
// is enough for what is told of the last answer.
const keptBody = 8 << 10

// slim drops what the end of the wait does not need of its last attempt. What was told of it
// does not change.
func (w *wait) slim() {
	w.last.verdict.Answers = nil
	o := *w.last.observation
	o.Header, o.Remarks, o.Pages, o.Within = nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}

// The causes with which a run ends the context of an attempt, which a probe gets
// from [context.Cause]. Any other comes from the caller's context.
var (
	// ErrAttemptTimeout ends an attempt that took longer than AttemptTimeout.
	ErrAttemptTimeout = cause.ErrAttemptTimeout
	// ErrDeadline ends the attempt that is under way at the deadline.
	ErrDeadline = cause.ErrDeadline
)

// A ProbeFunc is a function used as a [Probe]. [Observe] makes its result from a document
// or an error.
type ProbeFunc func(ctx context.Context, a Attempt) status.Observation

// Probe calls f.
func (f ProbeFunc) Probe(ctx context.Context, a Attempt) status.Observation { return f(ctx, a) }

// Observe makes the observation of a [ProbeFunc]: a document, or the error that came in
// its place. An error is NOT_READY, a [Permanent] error is ERROR, and a [Throttled] error
// is THROTTLED. Once ctx is done, only a Permanent error counts; any other means that the
// attempt was cut off. The text of the error becomes the reason of the verdict; it should
// hold no secret.
func Observe(ctx context.Context, body []byte, err error) status.Observation {
	o := status.Observation{Body: body, Size: int64(len(body))}
	if err == nil {
		return o
	}
	o.Failure = &status.Failure{Reason: err.Error(), Err: err}
	if e, ok := errors.AsType[*throttledError](err); ok {
		o.Failure.Kind = status.FailureThrottled
		if e.wait > 0 {
			o.Hint = &status.Hint{Wait: e.wait, Source: "the probe"}
		}
	}
	if isPermanent(err) {
		o.Failure.Kind = status.FailureHopeless
	} else if ctx.Err() != nil {
		o.Failure = cause.Failure(ctx, ErrAttemptTimeout.Error())
	}
	return o
}

// Permanent marks an error that further attempts cannot mend: the verdict is ERROR. As the
// cause with which the context of a run is canceled, it ends the run as Failed and not as
// Interrupted. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

func isPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// Throttled marks an error caused by asking too often: the verdict is THROTTLED. The next
// attempt comes after wait at the earliest; 0 leaves that to the schedule. Throttled(nil,
// wait) is nil.
func Throttled(err error, wait time.Duration) error {
	if err == nil {
		return nil
	}
	return &throttledError{err, wait}
}

type throttledError struct {
	error
	wait time.Duration
}

func (e *throttledError) Unwrap() error { return e.error }
