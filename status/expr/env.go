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

// An Env is what an expression can read of one attempt. It is not changed, and must not be
// changed while a [Result] of it is in use.
type Env struct {
	// Doc is the answer as JSON. Nil makes every path unknown.
	Doc *Doc
	// Element is what "." means, if that is an element of Doc, or was one; $json is then Doc.
	// Nil means that "." is Doc, too. Inside any, all and count, where "." is what they go through,
	// $element is still the same.
	Element *Doc
	// Gone is $gone: the element was in earlier answers, and is no longer.
	Gone bool

	// Exit is $exit, the exit code of a command. Nil if there is none.
	Exit *int
	// Status is $status, the HTTP status code. Nil if there is none.
	Status *int
	// Header is $header, the HTTP response header. Nil if there is none.
	Header http.Header

	// Body is $body, the answer as text. Stdout and Stderr are $stdout and $stderr, what
	// a command wrote. Trailing newlines are dropped, as the shell's $(...) does. If one
	// of Body and Stdout is nil, the other stands in for it, but with a Status there is
	// no $stdout unless it is given. A text that is still nil is empty if Exit (for Body:
	// Exit or Status) is set, and missing otherwise.
	Body, Stdout, Stderr []byte
	// Output is $output: both outputs of a command in order of arrival. If it is nil,
	// $output is $stdout.
	Output []byte
	// BodyCut is true if Body and Stdout are only the beginning of the answer, OutputCut if Output is only
	// its beginning, and StderrCut if Stderr is only the end of what was written. What they do not hold
	// may have been there: that is unknown, not false.
	BodyCut, StderrCut, OutputCut bool
	// StderrOpen is true if the end of what was written to stderr is missing from Stderr. With StderrCut,
	// Stderr is the middle.
	StderrOpen bool

	// Error is $error, what happened to an attempt that got no answer, such as "refused". It
	// is null if Error is "". If it is set, a nil field above is unknown, not missing, for
	// the reason of Doc: "$status != 503" is not true of a connection that was refused.
	Error string

	// Context, once done, abandons an evaluation that takes long: the outcome is then
	// unknown, see [Result.Abandoned]. Nil never does.
	Context context.Context

	// Event is $event, the name of a server-sent event, missing if it is "".
	Event string

	Attempt   int           // $attempt, counted from 1
	Elapsed   time.Duration // $elapsed, since the start of the run
	Unchanged time.Duration // $unchanged, since the answer last changed

	// Name is $name, the name of the target, missing if it is "".
	Name string
}

// dot is the document that "." is.
func (env *Env) dot() *Doc {
	return cmp.Or(env.Element, env.Doc)
}

// answered names the kind of answer, as the rows of hints.txt do.
func (env *Env) answered() string {
	return or(env.Exit != nil, "command", or(env.Status != nil, "request", "answer"))
}

// variable reads a variable, of $header a field. It is missing if it does not apply. known is false
// if there is no such variable; $json and $element, which are paths, and $ENV are none of them.
func (env *Env) variable(name, field string) (v value, known bool) {
	beginning := or(env.BodyCut, "beginning", "")
	switch name {
	case "exit":
		return optional(env.Exit), true
	case "status":
		return optional(env.Status), true
	case "header":
		if values := env.Header.Values(field); len(values) > 0 {
			return value{kind: kindString, str: fieldValue(values), hidden: true}, true
		}
		return missing(), true
	case "body":
		return output(env.Body, env.Stdout, env.Exit != nil || env.Status != nil, beginning), true
	case "stdout":
		instead := or(env.Status == nil, env.Body, nil)
		return output(env.Stdout, instead, env.Exit != nil && env.Status == nil, beginning), true
	case "stderr":
		return output(env.Stderr, nil, env.Exit != nil, env.stderrKept()), true
	case "output":
		if env.Output == nil {
			return env.variable("stdout", "")
		}
		return output(env.Output, nil, true, or(env.OutputCut, "beginning", "")), true
	case "error":
		return or(env.Error == "", parseValue("null"), text(env.Error)), true
	case "attempt":
		return integer(env.Attempt), true
	case "elapsed":
		return seconds(env.Elapsed), true
	case "unchanged":
		return seconds(env.Unchanged), true
	case "gone":
		return boolean(env.Gone), true
	case "isjson":
		isJSON := env.Doc.value()
		if env.Doc == nil || !env.Doc.unread {
			isJSON = or(env.Error != "", missing(), boolean(isJSON.kind != kindUnknown))
		}
		return isJSON, true
	case "event":
		return or(env.Event == "", missing(), text(env.Event)), true
	case "name":
		return or(env.Name == "", missing(), text(env.Name)), true
	}
	return missing(), false
}

// fieldValue returns the value of a header field that a response may have several times (RFC 9110 section
// 5.3). A value that is repeated counts once.
func fieldValue(values []string) string {
	if len(values) > 1 {
		values = slices.Compact(slices.Clone(values))
	}
	return strings.Join(values, ", ")
}

// stderrKept names the part of stderr that is kept, "" for all of stderr.
func (env *Env) stderrKept() string {
	if env.StderrOpen {
		return or(env.StderrCut, "middle", "beginning")
	}
	return or(env.StderrCut, "end", "")
}

func optional(n *int) value {
	if n == nil {
		return missing()
	}
	return integer(*n)
}

func seconds(d time.Duration) value {
	v := number(words.Number(words.InSeconds(d)))
	v.shown = words.Short(d)
	return v
}

// output is b, or instead if b is nil, as text without trailing newlines. If both are
// nil, it is empty after an answer and otherwise missing. partial says which part is kept: a newline
// at the end of a part is not the end of the text, and stays.
func output(b, instead []byte, answered bool, partial string) value {
	if b == nil {
		b = instead
	}
	if b == nil && !answered {
		return missing()
	}
	s := decodeText(b)
	if partial == "" || partial == "end" {
		s = strings.TrimRight(s, "\r\n")
	}
	v := text(s)
	v.partial = partial
	return v
}
