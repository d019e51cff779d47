package expr

import "unsafe"

// An Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	src  string
	root node
	uses Uses

	slots int // for the values of fixed nodes
}

// Compile compiles a condition. What would be true of every answer, such as a
// list, is an error. Every error is an [*Error].
func Compile(src string) (*Expr, error) { return compile(src, true) }

// CompileValue compiles an expression for its value. Every condition is one, and
// so are lists: items.#(ok==true)#.name. Every error is an [*Error].
func CompileValue(src string) (*Expr, error) { return compile(src, false) }

func compile(src string, condition bool) (*Expr, error) {
	root, uses, err := parse(src, condition)
	if err != nil {
		return nil, suggested(err, condition)
	}
	var h hoister
	root = h.hoist(root)
	return &Expr{src: src, root: root, uses: uses, slots: h.slots}, nil
}

// String returns the source of the expression.
func (x *Expr) String() string { return x.src }

// Uses says what the expression reads.
func (x *Expr) Uses() Uses { return x.uses }

// Eval evaluates the expression. It never fails and never panics: what cannot
// be decided is Unknown. It reads nothing but env, so it is a pure function but
// for the context; a nil env is an empty one. The time is that of reading the
// answer times the length of the expression, at the most.
func (x *Expr) Eval(env *Env) (r Result) {
	if env == nil {
		env = &Env{}
	}
	r = Result{expr: x, env: env}
	defer func() {
		if p := recover(); p != nil {
			r.value = unknown(failure(p))
			r.Tri = Unknown
		}
	}()
	e := newEvaluator(x, env)
	r.value = e.value(x.root)
	r.Tri = r.value.truth()
	return r
}

// viewString is the text of b without a copy; b must not be changed.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
