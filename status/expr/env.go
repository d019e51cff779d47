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

// An Env holds everything that an expression can read of one attempt. An Env must not be changed while a
// [Result] of it is in use.
type Env struct {
	// Doc is the response as JSON. Nil makes every path unknown.
	Doc *Doc
	// Element is ".", if that is an element of Doc, or of the Doc of an earlier attempt. $json is Doc. If
	// Element is nil, "." is Doc, too. Inside any, all and count, where "." is an element of their list,
	// $element is Element.
	Element *Doc
	// Gone is $gone: an earlier response held the element, and this response does not.
	Gone bool

	// Exit is $exit, the exit code of a command. Nil if there is none.
	Exit *int
	// Status is $status, the HTTP status code. Nil if there is none.
	Status *int
	// Header is $header, the HTTP response header. Nil if there is none.
	Header http.Header

	// Body is $body, the response as text. Stdout and Stderr are $stdout and $stderr, the outputs of a
	// command. Trailing newlines are dropped, as the shell's $(...) does. If Body or Stdout is nil, the
	// other field replaces it, except that a response with a Status has no $stdout unless Stdout is set.
	// A text that is still nil is empty if Exit is set, and missing otherwise. For Body, Status counts
	// as Exit does.
	Body, Stdout, Stderr []byte
	// Output is $output: both outputs of a command in order of arrival. If Output is nil,
	// $output is $stdout.
	Output []byte
	// BodyCut is true if Body and Stdout are only the beginning of the response. OutputCut is true if Output
	// is only the beginning of the output. StderrCut is true if Stderr is only the end of stderr. A
	// condition about the lost part is unknown, not false.
	BodyCut, StderrCut, OutputCut bool
	// StderrOpen is true if Stderr lacks the end of stderr. With StderrCut, Stderr is the middle.
	StderrOpen bool

	// Error is $error, the reason why an attempt got no response, such as "refused". $error
	// is null if Error is "". If Error is set, a nil field above is unknown, not missing, for
	// the reason of Doc: "$status != 503" is not true of a connection that was refused.
	Error string

	// Context, once done, ends an evaluation that takes long. The outcome is then unknown, see
	// [Result.Abandoned]. A nil Context never ends an evaluation.
	Context context.Context

	// Event is $event, the name of a server-sent event, missing if it is "".
	Event string

	Attempt   int           // $attempt, counted from 1
	Elapsed   time.Duration // $elapsed, since the start of the run
	Unchanged time.Duration // $unchanged, since the last change of the response

	// Name is $name, the name of the target, missing if it is "".
	Name string
}

// dot returns the document that "." is.
func (env *Env) dot() *Doc { return cmp.Or(env.Element, env.Doc) }

// respondent returns the word of the rows of hints.txt for the source of the response.
func (env *Env) respondent() string {
	switch {
	case env.Exit != nil:
		return "command"
	case env.Status != nil:
		return "request"
	}
	return "answer"
}

// The variables are documents, or facts about the attempt. $ENV is not a variable here.
const (
	variables = documents + facts
	documents = " json element "
	facts     = " exit status header body stdout stderr output error attempt elapsed unchanged gone isjson event name "
)

// read returns the value of a variable, and for ".." the list of the documents. field is the field of $header. The value
// of a variable that does not apply is missing, and unknown if there was no response.
func (env *Env) read(name, field string) value {
	v := env.variable(name, field)
	if v.kind == kindMissing && env.Error != "" {
		return env.Doc.value()
	}
	return v
}

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
	v := env.Doc.value() // of $isjson
	if env.Error != "" || env.Doc != nil && env.Doc.unread {
		return v
	}
	return boolean(v.kind != kindUnknown)
}

// fieldText joins the values of a header field, which a response may have several times (RFC 9110, section 5.3).
// Equal values that follow each other count once.
func fieldText(values []string) string {
	if len(values) > 1 {
		values = slices.Compact(slices.Clone(values))
	}
	return strings.Join(values, ", ")
}

// A cut is the loss of the start or the end of a text.
type cut struct{ start, end bool }

// kept returns the name of the part of a text that is kept, "" for the whole text.
func (c cut) kept() string {
	return map[cut]string{{start: true}: "end", {end: true}: "beginning", {start: true, end: true}: "middle"}[c]
}

// output returns a text or, if that is nil, the other one. If both are nil, the value is empty after a response, and
// otherwise missing. Trailing newlines are dropped unless the end of the text is lost.
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

func optional(n *int) value {
	if n == nil {
		return missing()
	}
	return integer(*n)
}

// textOr returns a text as a value, and another value for the empty text.
func textOr(s string, empty value) value {
	if s == "" {
		return empty
	}
	return text(s)
}

func seconds(d time.Duration) value {
	v := number(words.Number(words.InSeconds(d)))
	v.shown = words.Short(d)
	return v
}
