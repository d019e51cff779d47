// Package expr is the condition language of poll: one expression asks one
// question about one answer.
package expr

// An Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src  string
	uses Uses
}

// Compile compiles a condition. An error is an [*Error].
func Compile(src string) (*Expr, error) { return &Expr{src: src}, nil }

// CompileValue compiles an expression for its value; unlike a condition it may
// yield a list. An error is an [*Error].
func CompileValue(src string) (*Expr, error) { return &Expr{src: src}, nil }

// String returns the source of the expression.
func (x *Expr) String() string { return x.src }

// Uses says what the expression reads.
func (x *Expr) Uses() Uses { return x.uses }

// Eval evaluates the expression. It never fails and never panics: what cannot
// be decided is Unknown.
func (x *Expr) Eval(env *Env) Result { return Result{Tri: Unknown} }

// A Result is the outcome of one evaluation.
type Result struct {
	Tri Tri
}

// Matched reports whether the condition is true.
func (r Result) Matched() bool { return r.Tri == True }

// Explain says why the outcome is what it is, in at most max lines.
func (r Result) Explain(max int) []string { return nil }

// Notes lists what is odd about a match.
func (r Result) Notes() []string { return nil }

// Value returns the value of the expression.
func (r Result) Value() Value { return Value{} }
