package expr

import "unsafe"

// fixed is a node in the condition of any, all or count that does not depend on
// the element, such as $json.limit. It is evaluated once, not for each element:
// else the time would grow with the square of the document.
type fixed struct {
	node
	slot int // where the evaluator keeps the value
}

// maxKept is how many bytes the values of fixed nodes may take that are not part
// of the answer. What comes after that is evaluated each time.
const maxKept = 2 * maxResult

// fixed evaluates the node when its value is first asked for.
func (e *evaluator) fixed(n *fixed) value {
	if e.kept == nil {
		e.kept = make([]*value, e.expr.slots)
	}
	if v := e.kept[n.slot]; v != nil {
		e.tick(baseSteps)
		return *v
	}
	v := e.value(n.node)
	v.ready = &ready{}
	if e.keep(v.raw) && e.keep(v.str) {
		e.kept[n.slot] = &v
	}
	return v
}

// keep reports whether there is room for a text, and takes it.
func (e *evaluator) keep(s string) bool {
	if !e.env.holds(s) {
		e.keptSize += len(s)
	}
	return e.keptSize <= maxKept
}

// holds reports whether s is a part of the answer, and so takes no memory.
func (env *Env) holds(s string) bool {
	texts := [...]string{viewString(env.Body), viewString(env.Stdout), viewString(env.Stderr), ""}
	if env.Doc != nil {
		texts[3] = env.Doc.text
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	for _, text := range texts {
		start := uintptr(unsafe.Pointer(unsafe.StringData(text)))
		if start <= at && at+uintptr(len(s)) <= start+uintptr(len(text)) {
			return true
		}
	}
	return false
}

// A hoister finds the fixed nodes of an expression.
type hoister struct {
	slots int
	loop  bool // in the condition of any, all or count
}

// hoist returns the node with what is fixed in it marked so.
func (h *hoister) hoist(n node) node {
	if _, constant := ungroupLiteral(n); h.loop && !constant && !usesDot(n) {
		h.loop = false
		once := &fixed{h.hoist(n), h.slots}
		h.loop = true
		h.slots++
		return once
	}
	switch n := n.(type) {
	case *group:
		n.x = h.hoist(n.x)
	case *negation:
		n.x = h.hoist(n.x)
	case *logic:
		h.hoistAll(n.xs)
	case *pipe:
		h.hoistAll(n.xs)
	case *comparison:
		n.left, n.right = h.hoist(n.left), h.hoist(n.right)
	case *alternative:
		n.left, n.right = h.hoist(n.left), h.hoist(n.right)
	case *call:
		if n.cond != nil {
			outer := h.loop
			h.loop = true
			n.cond = h.hoist(n.cond)
			h.loop = outer
		}
	}
	return n
}

func (h *hoister) hoistAll(nodes []node) {
	for i, n := range nodes {
		nodes[i] = h.hoist(n)
	}
}

// usesDot reports whether the value of a node depends on what "." is.
func usesDot(n node) bool {
	switch n := n.(type) {
	case *literal, *variable:
		return false
	case *pathNode:
		return n.root == rootDot
	case *group:
		return usesDot(n.x)
	case *negation:
		return usesDot(n.x)
	case *logic:
		return anyUsesDot(n.xs)
	case *pipe:
		return usesDot(n.xs[0]) // the others see what that is piped into them
	case *comparison:
		return usesDot(n.left) || usesDot(n.right)
	case *alternative:
		return usesDot(n.left) || usesDot(n.right)
	case *call:
		switch n.fn {
		case fnAny, fnAll, fnCount:
			return n.each == nil || n.each.root == rootDot
		case fnExists:
			return usesDot(n.path)
		}
	}
	return true
}

func anyUsesDot(nodes []node) bool {
	for _, n := range nodes {
		if usesDot(n) {
			return true
		}
	}
	return false
}
