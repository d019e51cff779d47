package expr

import (
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// An evaluator evaluates one expression for one environment.
type evaluator struct {
	expr   *Expr
	env    *Env
	scope  scope
	labels bool // tell where elements are

	kept     []*value // of fixed nodes, by their slot; made when first needed
	keptSize int      // what they take, in bytes

	steps int // made so far
	look  int // the number of steps at which to look at the context
	grown int // bytes that modifiers have added

	// logics keeps what chains came to, for an explanation asks for an outer one
	// and then for those in it. Nil where the same chain has more than one value.
	logics map[*syntax.Logic]value
}

func newEvaluator(x *Expr, env *Env) evaluator {
	return evaluator{expr: x, env: env, look: quickSteps}
}

// A scope is what "." is.
type scope struct {
	inner   bool // something else than the document:
	dot     value
	subject syntax.Span // where in the source dot comes from, if that is a pipe
}

// value evaluates a node.
func (e *evaluator) value(n syntax.Node) value {
	switch n := n.(type) {
	case *syntax.Literal:
		return constantValue(&n.Constant)
	case *syntax.Path:
		return e.path(n)
	case *syntax.Variable:
		return e.variable(n)
	case *syntax.Group:
		return e.value(n.X)
	case *syntax.Negation:
		v := e.value(n.X)
		return outcome(v.truth().not(), v.fault)
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
	case *syntax.Fixed:
		return e.fixed(n)
	}
	return unknown(fault{code: faultInternal})
}

// logic evaluates a chain, for an explanation only once.
func (e *evaluator) logic(n *syntax.Logic) value {
	if e.logics == nil {
		return e.settle(n)
	}
	v, ok := e.logics[n]
	if !ok {
		v = e.settle(n)
		e.logics[n] = v
	}
	return v
}

// settle is Kleene's logic: one false settles "and", one true settles "or", and
// otherwise an unknown operand leaves the whole unknown.
func (e *evaluator) settle(n *syntax.Logic) value {
	settles := triOf(n.Or)
	result := value{}
	undecided := false
	for _, x := range n.Xs {
		v := e.value(x)
		switch v.truth() {
		case settles:
			return boolean(n.Or)
		case Unknown:
			if !undecided {
				undecided, result = true, v
			}
		}
	}
	if undecided {
		return result
	}
	return boolean(!n.Or)
}

// pipe gives each part the value of the one before as ".".
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

// enter makes another value ".", and returns what to go back to.
func (e *evaluator) enter(dot value, subject syntax.Span) (outer scope) {
	outer = e.scope
	e.scope = scope{true, dot, subject}
	return outer
}

// current is the value of ".".
func (e *evaluator) current() value {
	if e.scope.inner {
		return e.scope.dot
	}
	return e.env.Doc.value()
}

func (e *evaluator) path(p *syntax.Path) value {
	e.tick(baseSteps)
	return e.walk(p, e.root(p), p.Lookups)
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

// variable reads $name; it is missing where it does not apply, and unknown
// where it would but no answer came.
func (e *evaluator) variable(n *syntax.Variable) value {
	v := e.offered(n)
	if v.kind == KindMissing && e.env.Unanswered {
		return unknown(fault{code: faultDocument})
	}
	return v
}

func (e *evaluator) offered(n *syntax.Variable) value {
	env := e.env
	switch n.Name {
	case syntax.VarExit:
		return optionalInt(env.Exit)
	case syntax.VarStatus:
		return optionalInt(env.Status)
	case syntax.VarHeader:
		values := env.Header.Values(n.Header)
		if len(values) == 0 {
			return missing()
		}
		v := text(values[0])
		v.hidden = true
		return v
	case syntax.VarBody:
		return output(env.Body, env.Stdout, env.Exit != nil || env.Status != nil)
	case syntax.VarStdout:
		if env.Status != nil {
			return output(env.Stdout, nil, false)
		}
		return output(env.Stdout, env.Body, env.Exit != nil)
	case syntax.VarStderr:
		return output(env.Stderr, nil, env.Exit != nil)
	case syntax.VarAttempt:
		return number(strconv.Itoa(env.Attempt))
	case syntax.VarElapsed:
		return number(seconds(env.Elapsed))
	case syntax.VarIsJSON:
		return boolean(env.Doc.isJSON())
	}
	return unknown(fault{code: faultInternal})
}

// constantKinds are the kinds of constants.
var constantKinds = [...]Kind{
	syntax.Null: KindNull, syntax.Bool: KindBool, syntax.Number: KindNumber,
	syntax.String: KindString, syntax.Array: KindArray, syntax.Object: KindObject,
}

// constantValue is the value of a constant.
func constantValue(c *syntax.Constant) value {
	return value{kind: constantKinds[c.Kind], raw: c.Raw, str: c.Text}
}

func optionalInt(n *int) value {
	if n == nil {
		return missing()
	}
	return number(strconv.Itoa(*n))
}

// output is text that was written, or else the one that stands in for it, without
// trailing newlines; answered tells that there was an answer, if an empty one.
func output(b, instead []byte, answered bool) value {
	if b == nil {
		b = instead
	}
	if b == nil && !answered {
		return missing()
	}
	return text(trimNewlines(viewString(b)))
}

func trimNewlines(s string) string {
	for strings.HasSuffix(s, "\n") {
		s = strings.TrimSuffix(s[:len(s)-1], "\r")
	}
	return s
}

// seconds writes a duration as a decimal number of seconds.
func seconds(d time.Duration) string {
	s := strconv.FormatInt(int64(d/time.Second), 10)
	if d < 0 {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	if nanos := d % time.Second; nanos != 0 {
		s += strings.TrimRight("."+strconv.FormatInt(int64(time.Second+nanos), 10)[1:], "0")
	}
	return s
}

// call applies a function to "." or, for one with a path, to that.
func (e *evaluator) call(n *syntax.Call) value {
	switch n.Function {
	case syntax.FuncAny, syntax.FuncAll, syntax.FuncCount:
		return e.quantify(n)
	case syntax.FuncExists:
		return e.exists(n)
	}
	v := e.current()
	if v.kind == KindUnknown {
		return v
	}
	result := e.apply(n, v)
	result.hidden = v.hidden
	if result.kind == KindUnknown {
		result.fault.from, result.fault.to = int32(e.scope.subject.From), int32(e.scope.subject.To)
	}
	return result
}

// exists tells null from missing. What a wrong type makes unreadable does not
// exist; of a document that cannot be read nothing is known.
func (e *evaluator) exists(n *syntax.Call) value {
	v := e.value(n.Path)
	if v.kind == KindUnknown && v.fault.code == faultDocument {
		return v
	}
	return boolean(v.kind > KindMissing)
}
