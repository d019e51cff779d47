package expr

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// An Env contains everything that an expression can read about one attempt. It must not be changed while a [Result]
// computed from it is in use.
type Env struct {
	// Doc is the response as JSON. If it is nil, every path is unknown.
	Doc *Doc
	// Element is the value of "." if the expression is about one element of a list. Doc then contains the list, or
	// contained it in an earlier attempt, and is the value of $json. If Element is nil, "." is Doc. Inside any,
	// all and count, where "." is an element of their own list, $element is Element.
	Element *Doc
	// Gone is $gone, which is true if the element was in an earlier response and is no longer in the list.
	Gone bool

	// Exit is $exit, the exit code of a command. It is nil if the attempt has no exit code.
	Exit *int
	// Status is $status, the HTTP status code. It is nil if the attempt has no status code.
	Status *int
	// Header is $header, the header of the HTTP response. It is nil if the attempt has no header.
	Header http.Header

	// Body is $body, the response as text. Stdout and Stderr are $stdout and $stderr, the outputs of a command.
	// Line breaks at the end are removed, as the shell's $(...) does. If only Body or only Stdout is set, it is
	// the value of both $body and $stdout, except that a response with a Status has no $stdout unless Stdout is
	// set. A variable without a value is the empty string if Exit is set, and otherwise missing. $body is also the
	// empty string if Status is set.
	Body, Stdout, Stderr []byte
	// Output is $output, the stdout and stderr of a command in order of arrival. If Output is nil, $output is the
	// same as $stdout.
	Output []byte
	// BodyCut is true if Body and Stdout contain only the beginning of the response. OutputCut is true if Output
	// contains only the beginning of the output. StderrCut is true if Stderr contains only the end of stderr. The
	// result of a condition that needs the lost part is unknown, not false.
	BodyCut, StderrCut, OutputCut bool
	// StderrOpen is true if the end of stderr is not in Stderr. If StderrCut is true, too, Stderr is a part from
	// the middle.
	StderrOpen bool

	// Error is $error, the kind of failure that left the attempt without a response, such as "refused". If Error is
	// "", $error is null. If Error is set, a variable whose field above is nil is unknown, not missing, for the
	// reason that Doc gives. For example, "$status != 503" is not true for a connection that was refused.
	Error string

	// Context can end an evaluation that takes long. Once it is done, the outcome is unknown (see
	// [Result.Abandoned]). A nil Context never ends an evaluation.
	Context context.Context

	// Event is $event, the name of a server-sent event. If Event is "", $event is missing.
	Event string

	Attempt   int           // $attempt, starting at 1
	Elapsed   time.Duration // $elapsed, the time since the start of the run
	Unchanged time.Duration // $unchanged, the time since the response last changed

	// Name is $name, the name of the target. If Name is "", $name is missing.
	Name string
}

// dot returns the document that "." stands for.
func (env *Env) dot() *Doc { return cmp.Or(env.Element, env.Doc) }

// respondent returns the word that stands for the sender of the response in the patterns of hints.txt: "command",
// "request" or "response".
func (env *Env) respondent() string {
	switch {
	case env.Exit != nil:
		return "command"
	case env.Status != nil:
		return "request"
	}
	return "response"
}

// The names of the variables, without $, each with a space on either side. The variables in documents are JSON
// documents. The variables in facts are facts about the attempt. $ENV is in neither list, because it is replaced
// when an expression is compiled.
const (
	variables = documents + facts
	documents = " json element "
	facts     = " exit status header body stdout stderr output error attempt elapsed unchanged gone isjson event name "
)

// read returns the value of the variable called name, or the list of all documents if name is "..". For $header,
// field is the name of the header field. If the variable does not apply to the attempt, its value is missing, or
// unknown if the attempt received no response.
func (env *Env) read(name, field string) value {
	v := env.variable(name, field)
	if v.kind == kindMissing && env.Error != "" {
		return env.Doc.value()
	}
	return v
}

// variable implements read, except that it returns a missing value even if the attempt received no response.
func (env *Env) variable(name, field string) value {
	isCommand, isRequest, body := env.Exit != nil, env.Status != nil, cut{end: env.BodyCut}
	switch name {
	case "..":
		return env.Doc.all()
	case "json":
		return env.Doc.value()
	case "element":
		return env.dot().value()
	case "exit":
		return optional(env.Exit)
	case "status":
		return optional(env.Status)
	case "header":
		if values := env.Header.Values(field); len(values) > 0 {
			return value{kind: kindString, str: fieldText(values), hidden: true}
		}
		return missing()
	case "body":
		return output(env.Body, env.Stdout, body, isCommand || isRequest)
	case "stdout":
		if isRequest {
			return output(env.Stdout, nil, body, false)
		}
		return output(env.Stdout, env.Body, body, isCommand)
	case "stderr":
		return output(env.Stderr, nil, cut{env.StderrCut, env.StderrOpen}, isCommand)
	case "output":
		if env.Output == nil {
			return env.variable("stdout", "")
		}
		return output(env.Output, nil, cut{end: env.OutputCut}, true)
	case "error":
		return textOr(env.Error, parseValue("null"))
	case "attempt":
		return integer(env.Attempt)
	case "elapsed":
		return seconds(env.Elapsed)
	case "unchanged":
		return seconds(env.Unchanged)
	case "gone":
		return boolean(env.Gone)
	case "event":
		return textOr(env.Event, missing())
	case "name":
		return textOr(env.Name, missing())
	}
	v := env.Doc.value() // the remaining variable is $isjson
	if env.Error != "" || env.Doc != nil && env.Doc.unread {
		return v
	}
	return boolean(v.kind != kindUnknown)
}

// fieldText returns the values of a header field as a single string, separated by commas. A response may contain a
// field several times (RFC 9110, section 5.3). fieldText keeps only one of several equal values in a row.
func fieldText(values []string) string {
	if len(values) > 1 {
		values = slices.Compact(slices.Clone(values))
	}
	return strings.Join(values, ", ")
}

// A cut states which ends of a string have been lost.
type cut struct{ start, end bool }

// kept returns the name of the part that remains after c: "end", "beginning" or "middle". It returns "" if nothing
// has been lost.
func (c cut) kept() string {
	return map[cut]string{{start: true}: "end", {end: true}: "beginning", {start: true, end: true}: "middle"}[c]
}

// output returns b as a string value, or other if b is nil. If both are nil, it returns the empty string if
// responded is true, and otherwise a missing value. lost states which ends of the output have been lost. Unless its
// end has been lost, output removes trailing line breaks.
func output(b, other []byte, lost cut, responded bool) value {
	if b == nil {
		b = other
	}
	if b == nil && !responded {
		return missing()
	}
	s := decodeText(b)
	if !lost.end {
		s = strings.TrimRight(s, "\r\n")
	}
	return value{kind: kindString, str: s, lost: lost}
}

// optional returns the number that n points to, or a missing value if n is nil.
func optional(n *int) value {
	if n == nil {
		return missing()
	}
	return integer(*n)
}

// textOr returns s as a value, or returns empty if s is "".
func textOr(s string, empty value) value {
	if s == "" {
		return empty
	}
	return text(s)
}

// seconds returns d as a number of seconds. Explanations show it as a duration.
func seconds(d time.Duration) value {
	v := number(words.Number(words.InSeconds(d)))
	v.shown = words.Short(d)
	return v
}
