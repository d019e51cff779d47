package detail

// A Decision is part of a verdict.
type Decision struct {
	// TellsHint is true if the reason names the wait that the server asked for.
	TellsHint bool
	// Final is true for an ERROR that no further attempt can change: the probe cannot work, as where a
	// certificate is not trusted, the program cannot be run, or the operation could not be started.
	// It ends the wait whatever the threshold.
	Final bool
	// Concludes is true for an ERROR after which no started operation runs: the start was not sent, the response to
	// the start rejects it, or a successful response reports that the operation has ended.
	Concludes bool
	// Abandoned is true if time ran out while rules were asked. Nothing is decided then,
	// and the status is NOT_READY.
	Abandoned bool
	// AsksSuccess is true if a rule for SUCCESS was asked.
	AsksSuccess bool
	// Advice is what can be done about the verdict.
	Advice Advice
}

// Advice is what can be done about a verdict, as data. The program that reports
// the verdict puts it into words.
type Advice struct {
	Code AdviceCode `json:"code,omitempty"`
	Text string     `json:"text,omitempty"` // a condition with AdviceFinalStates, flags with AdviceFollow, a status with AdviceAccept
}

// An AdviceCode says what to do.
type AdviceCode uint8

// The codes.
const (
	AdviceNone        AdviceCode = iota // nothing
	AdviceTrust                         // trust the authority of the server's certificate, or do not verify it
	AdviceFollow                        // say where to look after the start, as Text may do, or that the request starts nothing
	AdviceKey                           // say what names an element
	AdviceNext                          // say where the next page of the list is, or that there is none
	AdviceFinalStates                   // say by a rule such as Text which states are final
	AdviceDone                          // say by a rule which document means that the operation is done
	AdviceEach                          // look at all pages of the list
	AdviceExpect                        // say how many elements of a list are enough
	AdviceStream                        // judge the events of the answer, which may not end
	AdviceHeld                          // give an attempt more time than the server is asked to hold it
	AdviceAccept                        // accept a response with the status Text, too
)
