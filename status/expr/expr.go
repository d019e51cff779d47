package expr

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/pollcli/poll/status/expr/internal/jq"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src     string
	program syntax.Program // unless it is in jq

	jq        *jq.Program
	condition bool // it was compiled as one
}

// An Option is an option for Compile and CompileValue.
type Option func(*options)

type options struct{ environ syntax.Environ }

// WithEnviron lets an expression name variables of the environment, as $ENV.NAME. lookup,
// such as [os.LookupEnv], finds a variable. It is called while the expression is compiled.
// A variable that is not set, or empty, is an error. The value is never shown: not in an
// error, an explanation, a note or a hint. But an expression may yield it.
func WithEnviron(lookup func(name string) (value string, ok bool)) Option {
	return func(o *options) { o.environ = lookup }
}

// Compile compiles a condition: of the language of this package or, if it begins with
// "jq:", of jq. One that is true of every answer, such as a list, is an
// error. Every error is an [*Error].
func Compile(src string, opts ...Option) (*Expr, error) { return compile(src, true, opts) }

// CompileValue compiles an expression for its value. It accepts conditions, and also
// lists: items.#(ok==true)#.name. Every error is an [*Error].
func CompileValue(src string, opts ...Option) (*Expr, error) { return compile(src, false, opts) }

func compile(src string, condition bool, opts []Option) (*Expr, error) {
	var o options
	for _, option := range opts {
		option(&o)
	}
	if isJQ(src) {
		return compileJQ(src, condition, o)
	}
	p, err := syntax.Parse(src, condition, o.environ)
	if err != nil {
		e := &Error{Source: src, Offset: err.Offset, Column: err.Column, Message: err.Message, Hint: err.Hint}
		e.suggest(condition, o)
		return nil, e
	}
	return &Expr{src: src, program: p, condition: condition}, nil
}

// String returns the source of the expression.
func (x *Expr) String() string { return x.src }

// NamesEnviron reports whether the expression names a variable of the environment, whose
// value it may yield.
func (x *Expr) NamesEnviron() bool {
	if x.jq != nil {
		return x.jq.Reads.Environ
	}
	return x.program.Secret
}

// Uses says what the expression reads.
func (x *Expr) Uses() Uses {
	has := x.program.Uses.Has
	if x.jq != nil {
		has = func(v syntax.VarName) bool {
			if v == syntax.VarWhole {
				v = syntax.VarJSON
			} else if v == syntax.VarJSON && x.jq.Reads.Input {
				return true
			}
			return slices.Contains(x.jq.Reads.Variables, v.String())
		}
	}
	return Uses{
		JSON: has(syntax.VarJSON), IsJSON: has(syntax.VarIsJSON),
		Exit: has(syntax.VarExit), Status: has(syntax.VarStatus), Header: has(syntax.VarHeader),
		Body: has(syntax.VarBody), Stdout: has(syntax.VarStdout), Stderr: has(syntax.VarStderr),
		Error: has(syntax.VarError), Attempt: has(syntax.VarAttempt), Elapsed: has(syntax.VarElapsed),
		Gone: has(syntax.VarGone), Whole: has(syntax.VarWhole), Clock: x.jq != nil && x.jq.Reads.Clock,
	}
}

// Eval evaluates the expression. It never fails and never panics: what cannot be decided
// is Unknown. It reads nothing but env, so except for the context it is a pure function;
// a nil env is an empty one. It takes at most the time of reading the answer, times the
// length of the expression. This does not hold for a program in jq, which takes at most 10
// seconds and can read the clock.
func (x *Expr) Eval(env *Env) (r Result) {
	if env == nil {
		env = &Env{}
	}
	r = Result{expr: x, env: env}
	defer func() {
		if p := recover(); p != nil {
			r.value, r.Tri = value{fault: failure(p)}, Unknown
		}
	}()
	e := newEvaluator(x, env)
	if x.jq != nil {
		r.value = e.evalJQ()
	} else {
		r.value = e.value(x.program.Root)
	}
	r.Tri = r.value.truth()
	return r
}

// viewString is the text of b without a copy; b must not be changed.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// An Error says why an expression does not compile.
type Error struct {
	Source  string // the expression
	Offset  int    // where in Source, in bytes from 0; at most len(Source)
	Column  int    // the same in characters from 1, for a caret
	Message string // what is wrong: "done is not quoted"
	Hint    string // what to write instead, "" if unknown
	// Instead is an expression that means what Source means in jq, which Hint then shows;
	// "" if none is known.
	Instead string
	// JQ is the expression that lets jq decide, "jq: " and the Source, if that is a program
	// in jq that can decide; otherwise "".
	JQ string
}

// Error returns the column and the message, without the hint.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s", e.Column, e.Message)
}
