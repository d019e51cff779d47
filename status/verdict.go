package status

// A Verdict is what an observation means, and why.
type Verdict struct {
	Status Status
	// Rule is the rule that decided, e.g. `until .state=="done"`; "" when
	// none did and the status follows from the answer itself.
	Rule string
	// Reason says in words why: `.state is "pending", want == "done"`.
	Reason string
	// TellsHint is true where Reason names the wait that the server asked for.
	TellsHint bool
	// Final is true for an ERROR that no further attempt can take back, so that it
	// ends the wait whatever the threshold: the program cannot be run, or the
	// operation could not be started.
	Final bool
	// Advice is what can be done about the verdict.
	Advice Advice
	// Abandoned is true if the time ran out while rules were asked. Nothing is
	// decided then, and Status is NotReady.
	Abandoned bool
	// Notes are words of caution about a match that may not mean what it says:
	// `.errors is an empty list, which is true`.
	Notes []string
	// Hints say what may have been meant by a rule that reads something the answer
	// does not have: "did you mean .state?". [Tally] makes them.
	Hints []string
	// Answers are what the rules said, in the order in which they were asked,
	// up to the one that decided.
	Answers []Answer
}
