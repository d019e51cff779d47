// Package status evaluates rules on observations, which are the responses that a probe received. The result is a
// [Verdict]: SUCCESS, NOT_READY, THROTTLED or ERROR, with a reason. The condition of a rule is an expression of
// package expr.
//
// The package knows no protocol. The [Protocol] of an observation returns its [Meaning], which consists of the
// verdict if no rule matches, and of restrictions on the rules that may decide. Package poll contains the
// protocols of its own probes.
//
// The files:
//
//	status.go       statuses, verdicts and hints
//	observation.go  observations: responses, failures, quotas, and the variables of expressions
//	rules.go        rules: their construction and their names
//	meaning.go      the interface of protocols, and their restrictions on rules
//	classify.go     the verdict: the order of rules, presets and the meaning
//	evaluation.go   the evaluation of each rule, and the reason of the verdict
//	preset.go       rules for each object in a response, and their common verdict
package status

// A Status is the state of the operation that a run waits for.
type Status string

// The statuses. None is the zero value. It means that nothing has been observed or decided yet.
const (
	None      Status = ""
	Success   Status = "SUCCESS"   // the operation is done: stop
	NotReady  Status = "NOT_READY" // not done yet: check again
	Throttled Status = "THROTTLED" // too many requests: check again, later
	Error     Status = "ERROR"     // failed, or can never succeed: stop
)

// Ends reports whether s ends a wait: whether it is Success or Error.
func (s Status) Ends() bool { return s == Success || s == Error }

// A Verdict is the status of the operation according to one observation, with the reason.
type Verdict struct {
	Status Status
	// Rule is the rule that matched, such as `until .state=="done"`, or "" if no rule matched.
	Rule string
	// Reason explains the status to people, as in `.state is "pending", want == "done"`.
	Reason string
	// Hints are advice about the verdict for the user. Classify adds few hints; a run of package poll adds more.
	Hints []Hint
	// Objects are the verdicts on the objects in the response. A preset sets them if it defines names for objects,
	// or if the response contains several objects. Failed objects come first, and finished objects last.
	Objects []Object
	// Final is true for an ERROR that no further attempt can change: the probe cannot work, or a start request has
	// failed. Examples are an untrusted certificate and a program that cannot be run. A Final verdict ends the
	// wait even if a threshold requires several errors in a row.
	Final bool
	// Concludes is true for an ERROR after which certainly no started operation is running: the start request was not
	// sent, the server rejected it, or a successful response reports that the operation has ended. The run sets
	// Concludes.
	Concludes bool
	// Abandoned is true if time ran out while the rules were evaluated. The Status is then NotReady, because no
	// rule has decided.
	Abandoned bool
	// ReachedSuccessRule is true if the evaluation reached a rule for SUCCESS.
	ReachedSuccessRule bool
	// Results are the results of the rules that were evaluated, in order. The last is the result of the rule that
	// decided, if a rule decided. In the events of a run, Results is empty.
	Results []Result
}

// A Hint is advice for the user. It never affects a verdict.
type Hint struct {
	Kind HintKind
	// Text is the advice itself for a HintNote and a HintCorrection. For every other kind, it is a detail of the
	// remedy, or "", and the program that prints the hint supplies the wording.
	Text string
}

// Notes returns one [HintNote] for each element of texts.
func Notes(texts ...string) (notes []Hint) {
	for _, text := range texts {
		notes = append(notes, Hint{Text: text})
	}
	return notes
}

// A HintKind is a kind of [Hint].
type HintKind uint8

// The kinds of hint. A note states a fact, a correction suggests another rule, and every other kind is a remedy for
// the reason of the verdict.
const (
	HintNote        HintKind = iota // a detail of the attempt, or a reason why the verdict may be a mistake, as in ".errors is an empty list, which is true"
	HintCorrection                  // a suggestion to read another value instead of one that the response lacks, as in "did you mean .state?"
	HintNext                        // specify where the response has the URL of the list's next page, or that this page is the last
	HintTrust                       // trust the authority that signed the server's certificate, or do not verify the certificate
	HintFollow                      // name the URL to check after the start request, perhaps with the flags in Text, or repeat the request in each attempt
	HintKey                         // specify how to name the elements of the list
	HintFinalStates                 // describe the final states with a rule, such as the condition in Text
	HintDone                        // describe the document of a finished operation with a rule
	HintEach                        // read all pages of the list
	HintExpect                      // specify how many elements are enough
	HintHeld                        // give each attempt more time than the request lets the server hold the response
	HintAccept                      // accept responses with the status code in Text, too
	HintOffered                     // request the URL in the header field that Text names
	HintUntrusted                   // trust the URL that the response names
)
