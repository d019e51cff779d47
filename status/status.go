// Package status evaluates rules on observations. The result is a [Verdict]: SUCCESS, NOT_READY, THROTTLED or ERROR,
// with its reason. A rule is an expression of package expr.
//
// The package knows no protocol. The [Protocol] of an observation returns its [Meaning]: the verdict if no rule matches,
// and the rules that may decide. Package poll has the protocols of its own probes.
package status

// A Status is the state of the operation that is waited for.
type Status string

// The statuses. The zero value stands for "nothing observed yet".
const (
	None      Status = ""
	Success   Status = "SUCCESS"   // the operation is done: stop
	NotReady  Status = "NOT_READY" // not done yet: check again
	Throttled Status = "THROTTLED" // too many requests: check again, later
	Error     Status = "ERROR"     // failed, or can never succeed: stop
)

// Ends reports whether the status ends a wait.
func (s Status) Ends() bool { return s == Success || s == Error }

// A Verdict is the status of the operation by one observation, with the reason.
type Verdict struct {
	Status Status
	// Rule is the rule that decided, such as `until .state=="done"`; "" if no rule
	// decided.
	Rule string
	// Reason is a text for people: `.state is "pending", want == "done"`.
	Reason string
	// Notes warn of a match that may be a mistake: `.errors is an empty list, which is true`. Only a run of
	// package poll sets Notes.
	Notes []string
	// Hints correct a rule that reads something the response does not have: "did you mean .state?". Only a run
	// of package poll sets Hints.
	Hints []string
	// Objects are the verdicts on the objects of a response, by a preset that names objects or has found several.
	// Failed objects come first, and finished objects last.
	Objects []Object
	// Final is true for an ERROR that no further attempt can change: the probe cannot work, as where a
	// certificate is not trusted, the program cannot be run, or the operation could not be started.
	// It ends the wait without regard to the threshold.
	Final bool
	// Concludes is true for an ERROR that means that no started operation runs: the start was not sent, the response to
	// the start rejects it, or a successful response reports that the operation has ended. The run sets it.
	Concludes bool
	// Abandoned is true if time ran out while rules were evaluated. Nothing is decided then,
	// and the status is NOT_READY.
	Abandoned bool
	// AsksSuccess is true if a rule for SUCCESS was evaluated.
	AsksSuccess bool
	// Advice is a remedy for the verdict.
	Advice Advice
	// Results are the results of the rules in the order of their evaluation, up to the rule that decided. The events of
	// a run do not have them.
	Results []Result
}

// Advice is a remedy for a verdict, as data. The program that reports
// the verdict writes the remedy for people.
type Advice struct {
	Code AdviceCode
	Text string // a condition with AdviceFinalStates, flags with AdviceFollow, a status with AdviceAccept, a header with AdviceOffered
}

// An AdviceCode is a kind of advice.
type AdviceCode uint8

// The codes.
const (
	AdviceNone        AdviceCode = iota // nothing
	AdviceTrust                         // trust the authority of the server's certificate, or do not verify it
	AdviceFollow                        // name the URL to request after the start, as Text may do, or report that the request starts nothing
	AdviceKey                           // name the key of an element
	AdviceNext                          // name the URL of the next page of the list, or report that there is none
	AdviceFinalStates                   // name the final states by a rule such as Text
	AdviceStateless                     // the document without a state is taken for the result; a rule can describe a finished operation
	AdviceDone                          // describe the document of a finished operation by a rule
	AdviceEach                          // read all pages of the list
	AdviceExpect                        // give the number of elements that are enough
	AdviceHeld                          // give an attempt more time than the server is asked to hold it
	AdviceAccept                        // accept a response with the status Text, too
	AdviceOffered                       // request the URL that the header Text names
	AdviceUntrusted                     // trust the URL that the response names
)
