// Package status judges observations: it maps what a probe saw onto SUCCESS, NOT_READY,
// THROTTLED or ERROR, by rules that are expressions and by the meaning of HTTP status and
// exit codes.
//
// An observation that no rule decides is judged by this table:
//
//	HTTP 2xx                                SUCCESS, but NOT_READY for 202; if a rule for
//	                                        SUCCESS was asked, NOT_READY, or ERROR if strict
//	the same from a URL that was followed,  by status, state, phase, done and their like: SUCCESS for
//	without such a rule                     a word known to be final, at the top level or in one
//	                                        envelope such as .data; ERROR for one known to be a
//	                                        failure, else NOT_READY; without such a word SUCCESS
//	                                        for what was created or is the result, ERROR if it
//	                                        names an error, else NOT_READY
//	429; 503 or 403 with a hint or any      THROTTLED
//	Retry-After; 403 with an exhausted rate
//	limit or GitHub's words about its
//	secondary one
//	408, 425, 5xx but 501 and 505           NOT_READY
//	other 4xx, 501, 505, a redirect that    ERROR
//	was not followed
//	no answer: refused, reset, timed out    NOT_READY
//	tcp: connected                          SUCCESS
//	a custom probe without a failure        as HTTP 2xx
//	exit code 0                             as HTTP 2xx
//	exit code 126, 127                      ERROR
//	another exit code, stderr tells of a    ERROR
//	wrong call
//	another exit code, stderr tells of      THROTTLED
//	throttling
//	another exit code                       NOT_READY
//
// Where [Rules.Accept] lists codes, a code of the list is as HTTP 2xx or exit code 0. HTTP 2xx and exit code 0 are
// NOT_READY if the list does not have them.
package status

import "github.com/pollcli/poll/internal/detail"

// A Status is the state of the operation that is waited for.
type Status string

// The statuses. The zero value stands for "nothing observed yet".
const (
	None      Status = ""
	Success   Status = "SUCCESS"   // the operation is done: stop
	NotReady  Status = "NOT_READY" // not done yet: look again
	Throttled Status = "THROTTLED" // asked too often: look again, later
	Error     Status = "ERROR"     // failed, or can never succeed: stop
)

// Ends reports whether the status ends a wait.
func (s Status) Ends() bool { return s == Success || s == Error }

// A Verdict says what an observation means, and why.
type Verdict struct {
	Status Status
	// Rule is the rule that decided, such as `until .state=="done"`; "" if none
	// did and the status follows from the answer itself.
	Rule string
	// Reason says why in words: `.state is "pending", want == "done"`.
	Reason string
	// Notes warn of a match that may not mean what it seems to:
	// `.errors is an empty list, which is true`.
	Notes []string
	// Hints suggest what was meant by a rule that reads something the answer does
	// not have: "did you mean .state?". They are made by [Tally].
	Hints []string
	// Objects are the verdicts on the objects of an answer by a preset that names them, or that
	// has found several: what has failed first, and what is done last.
	Objects []Object
	// What poll's own outputs read.
	detail.Decision
	// answers are the results of the rules, in the order in which they were
	// asked, up to the one that decided.
	answers []answer
}
