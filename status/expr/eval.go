package expr

import (
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An evaluator evaluates one expression for one environment.
type evaluator struct {
	expr   *Expr
	env    *Env
	scope  scope
	labels bool // tell where elements are

	values []*value // of hoisted nodes, by their slot; made when first needed
	reused int      // the size of those and of their indexes, in bytes

	steps int // so far
	look  int // the number of steps at which to look at the context
	grown int // bytes that modifiers have added
	made  int // bytes of values that are no part of the answer
}

func newEvaluator(x *Expr, env *Env) evaluator {
	return evaluator{expr: x, env: env, look: quickSteps}
}

// A scope says what "." stands for.
type scope struct {
	inner   bool // "." is dot, not the document
	dot     value
	subject syntax.Span // where in the source dot comes from, if from a pipe
}

// value evaluates a node.
func (e *evaluator) value(n syntax.Node) value {
	switch n := n.(type) {
	case *syntax.Literal:
		return constantValue(&n.Constant)
	case *syntax.Path:
		e.tick(baseSteps)
		return e.walk(n, e.root(n), n.Lookups)
	case *syntax.Variable:
		return e.variable(n)
	case *syntax.Group:
		return e.value(n.X)
	case *syntax.Negation:
		v := e.value(n.X)
		if t := v.truth(); t != Unknown {
			return boolean(t == False)
		}
		return v
	case *syntax.Logic:
		return e.logic(n)
	case *syntax.Comparison:
		return e.compare(n)
	case *syntax.Alternative:
		v := e.value(n.Left)
		if v.truth() == False {
			v = e.value(n.Right)
		}
		return v
	case *syntax.Pipe:
		return e.pipe(n)
	case *syntax.Call:
		return e.call(n)
	case *syntax.Hoisted:
		return e.hoisted(n)
	}
	return unknown(fault{code: faultInternal})
}

// logic is Kleene's: one false settles "and", one true settles "or", and otherwise an
// unknown operand leaves the whole unknown.
func (e *evaluator) logic(n *syntax.Logic) value {
	result := boolean(!n.Or)
	for _, x := range n.Xs {
		v := e.value(x)
		switch v.truth() {
		case triOf(n.Or):
			return boolean(n.Or)
		case Unknown:
			if result.kind != KindUnknown {
				result = v
			}
		}
	}
	return result
}

// pipe evaluates each part with the value of the previous one as ".".
func (e *evaluator) pipe(n *syntax.Pipe) value {
	v := e.value(n.Xs[0])
	for i, x := range n.Xs[1:] {
		if v.kind == KindUnknown {
			break
		}
		v = e.at(v, syntax.Span{From: n.From, To: n.Xs[i].Where().To}, x)
	}
	return v
}

// at evaluates a node with another value as ".", which comes from subject.
func (e *evaluator) at(dot value, subject syntax.Span, n syntax.Node) value {
	outer := e.enter(dot, subject)
	v := e.value(n)
	e.scope = outer
	return v
}

// enter makes another value ".", and returns the scope to go back to.
func (e *evaluator) enter(dot value, subject syntax.Span) (outer scope) {
	outer = e.scope
	e.scope = scope{true, dot, subject}
	return outer
}

// leave goes back to the outer scope.
func (e *evaluator) leave(outer scope) { e.scope = outer }

// current is the value of ".".
func (e *evaluator) current() value {
	if e.scope.inner {
		return e.scope.dot
	}
	return e.env.dot().value()
}

// root is the value that a path begins at.
func (e *evaluator) root(p *syntax.Path) value {
	switch p.Root {
	case syntax.RootJSON:
		return e.env.Doc.value()
	case syntax.RootLines:
		return e.env.Doc.lines()
	}
	return e.current()
}

// variable reads $name. It is missing if it does not apply, and unknown if there was no
// answer.
func (e *evaluator) variable(n *syntax.Variable) value {
	env, v := e.env, missing()
	switch n.Name {
	case syntax.VarExit:
		v = optional(env.Exit)
	case syntax.VarStatus:
		v = optional(env.Status)
	case syntax.VarHeader:
		if values := env.Header.Values(n.Header); len(values) > 0 {
			v = text(values[0])
			v.hidden = true
		}
	case syntax.VarBody:
		v = output(env.Body, env.Stdout, env.Exit != nil || env.Status != nil)
	case syntax.VarStdout:
		if env.Status != nil {
			v = output(env.Stdout, nil, false)
		} else {
			v = output(env.Stdout, env.Body, env.Exit != nil)
		}
	case syntax.VarStderr:
		v = output(env.Stderr, nil, env.Exit != nil)
		v.cut = env.StderrCut
	case syntax.VarError:
		if v = parseValue("null"); env.Error != "" {
			v = text(env.Error)
		}
	case syntax.VarAttempt:
		v = integer(env.Attempt)
	case syntax.VarGone:
		v = boolean(env.Gone)
	case syntax.VarTarget:
		if env.Name != "" {
			v = text(env.Name)
		}
	case syntax.VarElapsed:
		v = number(words.Number(words.InSeconds(env.Elapsed)))
	case syntax.VarIsJSON:
		v = boolean(env.Doc.read().count == 1)
	}
	if v.kind == KindMissing && env.Error != "" {
		return unreadable(env.Doc)
	}
	return v
}

// constantKinds are the kinds of constants.
var constantKinds = [...]Kind{
	syntax.Null: KindNull, syntax.Bool: KindBool, syntax.Number: KindNumber,
	syntax.String: KindString, syntax.Array: KindArray, syntax.Object: KindObject,
}

// constantValue is the value of a constant.
func constantValue(c *syntax.Constant) value {
	return value{kind: constantKinds[c.Kind], raw: c.Raw, str: c.Text, hidden: c.Secret}
}

func optional(n *int) value {
	if n == nil {
		return missing()
	}
	return integer(*n)
}

// output is b, or instead if b is nil, as text without trailing newlines. If both are
// nil, it is empty after an answer and otherwise missing.
func output(b, instead []byte, answered bool) value {
	if b == nil {
		b = instead
	}
	if b == nil && !answered {
		return missing()
	}
	s := decodeText(b)
	for strings.HasSuffix(s, "\n") {
		s = strings.TrimSuffix(s[:len(s)-1], "\r")
	}
	return text(s)
}
