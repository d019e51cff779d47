// Package status decides what an observation means: it maps what a probe saw
// onto SUCCESS, NOT_READY, THROTTLED or ERROR, by rules that are expressions
// and by what HTTP and exit codes say of themselves.
//
// What no rule decides is judged by this table:
//
//	HTTP 2xx                                SUCCESS; 202 is NOT_READY; where a rule for
//	                                        SUCCESS was asked, NOT_READY, or ERROR if strict
//	the same from a URL that was followed   by status, state, phase, done or provisioningState
//	without such a rule                     at the top of the document, if it has one:
//	                                        SUCCESS for a word known to be final, ERROR for
//	                                        one known as a failure's, else NOT_READY;
//	                                        without one SUCCESS, but NOT_READY after an
//	                                        answer that had one, and ERROR for a document
//	                                        with nothing but an error
//	429; 503 with a hint; 403 with a hint,  THROTTLED
//	an exhausted rate limit or GitHub's
//	words about its secondary limit
//	408, 425, 5xx but 501 and 505           NOT_READY
//	other 4xx, 501, 505, a redirect that    ERROR
//	was not followed
//	no answer: refused, reset, timed out    NOT_READY
//	tcp: connected                          SUCCESS
//	a custom probe without a failure        as HTTP 2xx
//	exit code 0                             as HTTP 2xx
//	exit code 126, 127                      ERROR
//	another exit code, stderr says          THROTTLED
//	"asked too often"
//	another exit code                       NOT_READY
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
