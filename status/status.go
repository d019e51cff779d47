// Package status decides what an observation means: it maps what a probe saw
// onto SUCCESS, NOT_READY, THROTTLED or ERROR, by rules that are expressions
// and by what HTTP and exit codes say of themselves.
package status

import "fmt"

// A Status is the state of the operation that is waited for.
type Status uint8

// The statuses. The zero value stands for "nothing observed yet".
const (
	None      Status = iota
	Success          // the operation is done: stop
	NotReady         // not done yet: look again
	Throttled        // asked too often: look again, later
	Error            // failed, or can never succeed: stop
)

// String returns SUCCESS, NOT_READY, THROTTLED or ERROR, and "" for None.
func (s Status) String() string {
	switch s {
	case None:
		return ""
	case Success:
		return "SUCCESS"
	case NotReady:
		return "NOT_READY"
	case Throttled:
		return "THROTTLED"
	case Error:
		return "ERROR"
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Ends reports whether the status ends a wait.
func (s Status) Ends() bool { return s == Success || s == Error }
