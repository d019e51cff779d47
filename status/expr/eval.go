package expr

import (
	"strconv"
	"strings"
	"time"
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
	logics map[*logic]value
}

func newEvaluator(x *Expr, env *Env) evaluator {
	return evaluator{expr: x, env: env, look: quickSteps}
}

// A scope is what "." is.
type scope struct {
	inner   bool // something else than the document:
	dot     value
	subject span // where in the source dot comes from, if that is a pipe
}

// value evaluates a node.
func (e *evaluator) value(n node) value {
	switch n := n.(type) {
	case *literal:
		return n.value
	case *pathNode:
		return e.path(n.path)
	case *variable:
		return e.variable(n)
	case *group:
		return e.value(n.x)
	case *negation:
		v := e.value(n.x)
		return outcome(v.truth().not(), v.fault)
	case *logic:
		return e.logic(n)
	case *comparison:
		return e.compare(n)
	case *alternative:
		v := e.value(n.left)
		if v.truth() == False {
			v = e.value(n.right)
		}
		return v
	case *pipe:
		return e.pipe(n)
	case *call:
		return e.call(n)
	case *fixed:
		return e.fixed(n)
	}
	return unknown(fault{code: faultInternal})
}

// logic evaluates a chain, for an explanation only once.
func (e *evaluator) logic(n *logic) value {
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
func (e *evaluator) settle(n *logic) value {
	settles := triOf(n.or)
	result := value{}
	undecided := false
	for _, x := range n.xs {
		v := e.value(x)
		switch v.truth() {
		case settles:
			return boolean(n.or)
		case Unknown:
			if !undecided {
				undecided, result = true, v
			}
		}
	}
	if undecided {
		return result
	}
	return boolean(!n.or)
}

// pipe gives each part the value of the one before as ".".
func (e *evaluator) pipe(n *pipe) value {
	v := e.value(n.xs[0])
	for i, x := range n.xs[1:] {
		if v.kind == KindUnknown {
			break
		}
		v = e.at(v, span{n.from, n.xs[i].where().to}, x)
	}
	return v
}

// at evaluates a node with another value as ".", which comes from subject.
func (e *evaluator) at(dot value, subject span, n node) value {
	outer := e.enter(dot, subject)
	v := e.value(n)
	e.scope = outer
	return v
}

// enter makes another value ".", and returns what to go back to.
func (e *evaluator) enter(dot value, subject span) (outer scope) {
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

func (e *evaluator) path(p *path) value {
	e.tick(baseSteps)
	return e.walk(p, e.root(p), p.hops)
}

// root is the value that a path begins at.
func (e *evaluator) root(p *path) value {
	switch p.root {
	case rootJSON:
		return e.env.Doc.value()
	case rootLines:
		return e.env.Doc.lines()
	}
	return e.current()
}

// variable reads $name; it is missing where it does not apply, and unknown
// where it would but no answer came.
func (e *evaluator) variable(n *variable) value {
	v := e.offered(n)
	if v.kind == KindMissing && e.env.Unanswered {
		return unknown(fault{code: faultDocument})
	}
	return v
}

func (e *evaluator) offered(n *variable) value {
	env := e.env
	switch n.name {
	case "exit":
		return optionalInt(env.Exit)
	case "status":
		return optionalInt(env.Status)
	case "header":
		values := env.Header.Values(n.header)
		if len(values) == 0 {
			return missing()
		}
		v := text(values[0])
		v.hidden = true
		return v
	case "body":
		return output(env.Body, env.Stdout, env.Exit != nil || env.Status != nil)
	case "stdout":
		if env.Status != nil {
			return output(env.Stdout, nil, false)
		}
		return output(env.Stdout, env.Body, env.Exit != nil)
	case "stderr":
		return output(env.Stderr, nil, env.Exit != nil)
	case "attempt":
		return number(strconv.Itoa(env.Attempt))
	case "elapsed":
		return number(seconds(env.Elapsed))
	case "isjson":
		return boolean(env.Doc.isJSON())
	}
	return unknown(fault{code: faultInternal})
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
func (e *evaluator) call(n *call) value {
	switch n.fn {
	case fnAny, fnAll, fnCount:
		return e.quantify(n)
	case fnExists:
		return e.exists(n)
	}
	v := e.current()
	if v.kind == KindUnknown {
		return v
	}
	result := e.apply(n, v)
	result.hidden = v.hidden
	if result.kind == KindUnknown {
		result.fault.from, result.fault.to = int32(e.scope.subject.from), int32(e.scope.subject.to)
	}
	return result
}

// exists tells null from missing. What a wrong type makes unreadable does not
// exist; of a document that cannot be read nothing is known.
func (e *evaluator) exists(n *call) value {
	v := e.value(n.path)
	if v.kind == KindUnknown && v.fault.code == faultDocument {
		return v
	}
	return boolean(v.kind > KindMissing)
}
