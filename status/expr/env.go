package expr

import (
	"context"
	"net/http"
	"time"
)

// An Env is what one attempt offers to an expression. It is not changed, and must not be
// changed while a [Result] of it is in use.
type Env struct {
	// Doc is the answer as JSON. Nil makes every path unknown.
	Doc *Doc
	// Element is what "." means, if that is an element of Doc, or was one; $json is then Doc.
	// Nil means that "." is Doc, too.
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
	// StderrCut is true if Stderr is only the end of what was written. What it does not hold
	// may have been there: that is unknown, not false.
	StderrCut bool

	// Error is $error, what happened to an attempt that got no answer, such as "refused". It
	// is null if Error is "". With it, what is nil above is unknown, not missing, for the
	// same reason as Doc: "$status != 503" is not true of a connection that was refused.
	Error string

	// Context, once done, abandons an evaluation that takes long: the outcome is then
	// unknown, see [Result.Abandoned]. Nil never does.
	Context context.Context

	Attempt int           // $attempt, counted from 1
	Elapsed time.Duration // $elapsed, since the start of the run

	// Name is $name, what the target is called, missing if it is "".
	Name string
}

// dot is the document that "." is.
func (env *Env) dot() *Doc {
	if env.Element != nil {
		return env.Element
	}
	return env.Doc
}

// Uses says what an expression reads.
type Uses struct {
	JSON    bool // the document, or an element of it: any path, $json
	IsJSON  bool // $isjson
	Exit    bool // $exit
	Status  bool // $status
	Header  bool // $header
	Body    bool // $body
	Stdout  bool // $stdout
	Stderr  bool // $stderr
	Error   bool // $error
	Attempt bool // $attempt
	Elapsed bool // $elapsed
	Gone    bool // $gone
	Whole   bool // $json or .., which is the answer even where "." is an element of it
	Clock   bool // the time of day, which only a program in jq can read
}

// Answer reports whether the expression names the answer itself: one of $exit, $status,
// $header, $body, $stdout and $stderr, or $error. Such an expression is meant for bad
// answers, too.
func (u Uses) Answer() bool {
	return u.Exit || u.Status || u.Header || u.Body || u.Stdout || u.Stderr || u.Error
}
