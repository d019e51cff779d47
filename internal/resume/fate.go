package resume

import (
	"time"

	"github.com/pollcli/poll/poll"
)

// A Fate is the fate of the file of a wait. The end of a wait is not the end of its operation: after a start,
// only a successful response that reports the end ends the operation.
type Fate int

// The fates, from the best.
const (
	Over   Fate = iota - 1 // no later run continues the wait: the file of a slice is removed
	Kept                   // a later run continues the wait
	Warned                 // kept, and the same line does not send the start again until the file is removed
)

// fateOf returns the fate at the end of a wait whose targets have fates up to worst. A wait that has Succeeded is over
// for its user, although the operations of other targets may still run.
func fateOf(how poll.Ending, worst Fate, isComplete bool) Fate {
	switch {
	case how == poll.Succeeded:
		return Over
	case how != poll.Failed && how != poll.CannotRun, !isComplete: // the file lacks an entry
		return Kept
	}
	return worst
}

// fateOfTarget returns the fate of a target at its end.
func fateOfTarget(o *poll.Outcome, kept poll.State) Fate {
	switch {
	case o.Unfinished: // an operation was started, or may have been, and no response has reported its end
		return Warned
	case o.Ending == poll.Failed && !kept.Ended():
		return Kept
	}
	return Over
}

// abandonedAfter is the age of the file of an abandoned wait in slices.
const abandonedAfter = time.Hour

// known holds facts about a file that a run opens.
type known struct {
	isEmpty  bool          // of all targets
	hasSome  bool          // of the targets of this run
	hasEnded bool          // all targets of this run have ended
	isOthers bool          // a start of another target, while a target of this run would start an operation
	age      time.Duration // of the newest line
}

// A decision is the use of a file that a run finds.
type decision int

const (
	resume    decision = iota // continue, if the file holds a wait
	replace                   // remove the file, and begin anew
	earlier                   // reject: the file belongs to an earlier run, and the line does not resume that run
	other                     // reject: the file belongs to another command
	abandoned                 // reject: the operation of the file may be an old one
)

// decide returns the use of a file.
func decide(k known, mayResume, isSlice bool) decision {
	switch isOld := isSlice && k.age > abandonedAfter; {
	case k.isEmpty:
		return resume
	case !mayResume:
		return earlier
	case isOld && k.hasEnded:
		return replace
	case !k.hasSome || k.isOthers:
		return other
	case isOld:
		return abandoned
	}
	return resume
}
