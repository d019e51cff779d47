// Package status judges observations: it maps what a probe saw onto SUCCESS, NOT_READY,
// THROTTLED or ERROR, by rules that are expressions and by the meaning that a protocol gives to a response.
//
// It evaluates rules and knows no protocol. The probe of a response knows what the response means without a matching
// rule, and which rules may decide: see [Meaning].
package status

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
	// not have: "did you mean .state?". A run makes them.
	Hints []string
	// Objects are the verdicts on the objects of an answer by a preset that names them, or that
	// has found several: what has failed first, and what is done last.
	Objects []Object
	// Final is true for an ERROR that no further attempt can change: the probe cannot work, as where a
	// certificate is not trusted, the program cannot be run, or the operation could not be started.
	// It ends the wait whatever the threshold.
	Final bool
	// Concludes is true for an ERROR after which no started operation runs: the start was not sent, the response to
	// the start rejects it, or a successful response reports that the operation has ended. The run sets it.
	Concludes bool
	// Timeless is true for an ERROR by a rule that matches at any time.
	Timeless bool
	// Abandoned is true if time ran out while rules were evaluated. Nothing is decided then,
	// and the status is NOT_READY.
	Abandoned bool
	// TellsHint is true if the reason names the wait that the server asked for.
	TellsHint bool
	// AsksSuccess is true if a rule for SUCCESS was evaluated.
	AsksSuccess bool
	// Advice is what can be done about the verdict.
	Advice Advice
	// Results are the results of the rules in the order of their evaluation, up to the rule that decided. The events of
	// a run do not have them.
	Results []Result
}
