package expr

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// An evaluator evaluates one expression for one environment.
type evaluator struct {
	src string
	env *Env
	dot *value // what "." is; nil for the document
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
	}
	return unknown(fault{code: faultInternal})
}

// logic is Kleene's: one false settles "and", one true settles "or", and
// otherwise an unknown operand leaves the whole unknown.
func (e *evaluator) logic(n *logic) value {
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
	outer := e.dot
	defer func() { e.dot = outer }()
	var v value
	for i, x := range n.xs {
		if v = e.value(x); v.kind == KindUnknown {
			break
		}
		if i < len(n.xs)-1 {
			dot := v
			e.dot = &dot
		}
	}
	return v
}

// at evaluates a node with another value as ".".
func (e *evaluator) at(dot value, n node) value {
	outer := e.dot
	e.dot = &dot
	v := e.value(n)
	e.dot = outer
	return v
}

// current is the value of ".".
func (e *evaluator) current() value {
	if e.dot != nil {
		return *e.dot
	}
	return e.env.Doc.value()
}

func (e *evaluator) path(p *path) value { return e.walk(p, e.root(p), p.hops) }

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

// variable reads $name; it is missing where it does not apply.
func (e *evaluator) variable(n *variable) value {
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
		body := env.Body
		if body == nil {
			body = env.Stdout
		}
		return output(body, env.Exit != nil || env.Status != nil)
	case "stdout":
		return output(env.Stdout, env.Exit != nil)
	case "stderr":
		return output(env.Stderr, env.Exit != nil)
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

// output is text that was written, without trailing newlines.
func output(b []byte, answered bool) value {
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
	result := n.apply(v)
	result.hidden = v.hidden
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

// A tally counts the outcomes of a condition for the elements of a list.
type tally struct {
	total, matched, failed, unknown int

	fault fault // why the first unknown one is unknown
}

// quantify evaluates any, all and count.
func (e *evaluator) quantify(n *call) value {
	t, f, ok := e.tally(n, func(t *tally, _ elementPath, _ value) bool {
		switch n.fn {
		case fnAny:
			return t.matched == 0
		case fnAll:
			return t.failed == 0
		}
		return true
	})
	if !ok && (n.fn == fnCount || n.fn == fnAny && t.matched == 0 || n.fn == fnAll && t.failed == 0) {
		return unknown(f)
	}
	return n.outcome(&t)
}

// outcome is what a function makes of a tally.
func (n *call) outcome(t *tally) value {
	switch {
	case n.fn == fnAny && t.matched > 0:
		return boolean(true)
	case n.fn == fnAll && t.failed > 0:
		return boolean(false)
	case t.unknown > 0:
		return unknown(t.fault)
	case n.fn == fnCount:
		return number(strconv.Itoa(t.matched))
	}
	return boolean(n.fn == fnAll)
}

// elementPath says where an element is, as indexes and keys.
type elementPath []any

// tally asks the condition of one element after the other until visit returns
// false. It returns false if the elements cannot be reached, and why.
func (e *evaluator) tally(n *call, visit func(*tally, elementPath, value) bool) (t tally, f fault, ok bool) {
	judge := func(at elementPath, element value) bool {
		v := element
		if n.cond != nil {
			v = e.at(element, n.cond)
		}
		t.total++
		switch v.truth() {
		case True:
			t.matched++
		case False:
			t.failed++
		case Unknown:
			if t.unknown++; t.unknown == 1 {
				t.fault = v.fault
			}
		}
		return visit(&t, at, element)
	}
	if n.each == nil {
		f, ok = e.spread(e.current(), nil, n.span, func(at elementPath, element value) (fault, bool) {
			return fault{}, judge(at, element)
		})
		return t, f, ok || f == (fault{})
	}
	f, ok = e.iterate(n.each, e.root(n.each), n.each.hops, nil, judge)
	return t, f, ok || f == (fault{})
}

// iterate follows hops and calls judge for all that the [] in them lead to. It
// returns false when judge did, or with a fault when something is no list.
func (e *evaluator) iterate(p *path, v value, hops []hop, at elementPath, judge func(elementPath, value) bool) (fault, bool) {
	for i := range hops {
		if hops[i].kind != hopEach {
			continue
		}
		list := e.walk(p, v, hops[:i])
		return e.spread(list, at, span{p.from, p.before(hops[i].from)}, func(at elementPath, element value) (fault, bool) {
			return e.iterate(p, element, hops[i+1:], at, judge)
		})
	}
	return fault{}, judge(at, e.walk(p, v, hops))
}

// spread calls visit for each element of a value, until it returns false.
func (e *evaluator) spread(v value, at elementPath, source span, visit func(elementPath, value) (fault, bool)) (f fault, ok bool) {
	switch v.kind {
	case KindUnknown:
		return v.fault, false
	case KindArray, KindObject:
	default:
		return fault{code: faultEach, got: v.kind, from: int32(source.from), at: int32(source.to), to: int32(source.to)}, false
	}
	ok = true
	each(v, func(_ int, _ string, r gjson.Result) bool {
		element := fromResult(r)
		element.hidden = v.hidden
		f, ok = visit(at, element)
		return ok
	})
	return f, ok
}
