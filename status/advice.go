package status

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
