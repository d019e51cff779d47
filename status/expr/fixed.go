package expr

import (
	"unsafe"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// maxKept is how many bytes the values of fixed nodes may take that are not part
// of the answer. What comes after that is evaluated each time.
const maxKept = 2 * maxResult

// fixed evaluates the node when its value is first asked for.
func (e *evaluator) fixed(n *syntax.Fixed) value {
	if e.kept == nil {
		e.kept = make([]*value, e.expr.program.Slots)
	}
	if v := e.kept[n.Slot]; v != nil {
		e.tick(baseSteps)
		return *v
	}
	v := e.value(n.Node)
	v.ready = &ready{}
	if e.keep(v.raw) && e.keep(v.str) {
		e.kept[n.Slot] = &v
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
