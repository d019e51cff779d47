package poll

import "errors"

// The causes with which a run ends the context of an attempt; a probe tells
// them apart by [context.Cause]. Any other cause comes from the caller.
var (
	// ErrAttemptTimeout ends an attempt that took longer than one may.
	ErrAttemptTimeout = errors.New("attempt timed out")
	// ErrDeadline ends the attempt that is under way at the run's deadline.
	ErrDeadline = errors.New("deadline reached")
)
