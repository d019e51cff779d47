package expr

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A path says where in a document a value is.
type path struct {
	span
	root  rootKind
	bare  bool // begins without a dot
	steps []step
	hops  []hop // what the steps are lowered to
}

// A rootKind says where a path begins.
type rootKind uint8

const (
	rootDot   rootKind = iota // the value that is looked at, usually the document
	rootJSON                  // the whole document
	rootLines                 // the documents of JSON lines
)

// A step is one component of a path.
type step struct {
	span
	kind  stepKind
	piped bool   // joined by a tight | rather than by a dot
	key   string // stepField; stepLoose: the digits
	glob  string // stepField: a pattern instead of a key, "" if there is none
	n     int    // stepIndex
	query *query
	mod   *modifier
}

type stepKind uint8

const (
	stepField    stepKind = iota // .name, ["name"]
	stepIndex                    // [n], of a list only
	stepLoose                    // .n, which gjson reads as an index or as a key
	stepEach                     // []
	stepCount                    // #
	stepQuery                    // #(...)
	stepQueryAll                 // #(...)#
	stepModifier                 // @name
)

// A modifier is a step that makes a new value.
type modifier struct {
	name string
	arg  string // JSON, "" for none
}

// A hop is one or more steps that are walked at once.
type hop struct {
	span  // from the first step to the last
	kind  hopKind
	get   string    // hopFields: the gjson path of all steps
	wild  bool      // hopFields: a step is a pattern
	steps []step    // hopFields
	key   string    // hopKey
	n     int       // hopIndex
	query *query    // hopFirst, hopAll, hopAllCount
	sub   []hop     // hopMap, hopAll: walked for each element
	mod   *modifier // hopModifier
}

type hopKind uint8

const (
	hopFields   hopKind = iota
	hopKey              // a key of an object that gjson would also take for an index
	hopIndex            // [n]
	hopEach             // []
	hopCount            // #
	hopMap              // #.x
	hopFirst            // #(...)
	hopAll              // #(...)#
	hopAllCount         // #(...)#|#, without making the list
	hopModifier
)

// lower turns steps into hops.
func lower(steps []step) []hop {
	var hops []hop
	for len(steps) > 0 {
		var h hop
		h, steps = lowerOne(steps)
		hops = append(hops, h)
	}
	return hops
}

// lowerOne makes the first hop of steps, and returns the steps that are left.
func lowerOne(steps []step) (hop, []step) {
	s, rest := steps[0], steps[1:]
	h := hop{span: s.span, query: s.query, mod: s.mod, key: s.key, n: s.n}
	switch s.kind {
	case stepField, stepLoose:
		return lowerFields(steps)
	case stepIndex:
		h.kind = hopIndex
	case stepEach:
		h.kind = hopEach
	case stepModifier:
		h.kind = hopModifier
	case stepQuery:
		h.kind = hopFirst
	case stepCount:
		if h.kind = hopCount; mapped(rest) > 0 {
			h.kind = hopMap
		}
	case stepQueryAll:
		if h.kind = hopAll; len(rest) > 0 && rest[0].kind == stepCount && rest[0].piped && mapped(rest[1:]) == 0 {
			h.kind = hopAllCount
			h.to = rest[0].to
			return h, rest[1:]
		}
	}
	if h.kind == hopMap || h.kind == hopAll {
		n := mapped(rest)
		h.sub, rest = lower(rest[:n]), rest[n:]
	}
	return h, rest
}

// mapped is the number of steps that, after a step that yields a list, apply to
// each element: those up to the next pipe or bracket.
func mapped(steps []step) int {
	for i, s := range steps {
		if s.piped || s.kind == stepIndex || s.kind == stepEach || s.bracketed() {
			return i
		}
	}
	return len(steps)
}

// bracketed reports whether the step is a key in brackets, which belongs to the
// whole of what stands before it.
func (s *step) bracketed() bool { return s.kind == stepField && s.n == bracketKey }

// bracketKey marks a stepField that was written in brackets.
const bracketKey = -1

// lowerFields joins the fields at the start of steps to one hop.
func lowerFields(steps []step) (hop, []step) {
	if s := &steps[0]; s.kind == stepField && s.glob == "" && (s.key == "" || allDigits(s.key)) {
		return hop{span: s.span, kind: hopKey, key: s.key}, steps[1:]
	}
	n := 1
	for n < len(steps) && joins(&steps[n]) {
		n++
	}
	var b strings.Builder
	wild := false
	for i := range steps[:n] {
		wild = wild || steps[i].glob != ""
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(steps[i].component())
	}
	h := hop{kind: hopFields, get: b.String(), wild: wild, steps: steps[:n]}
	h.span = span{steps[0].from, steps[n-1].to}
	return h, steps[n:]
}

// joins reports whether gjson reads the step as it is meant when it is joined to
// the one before by a dot. It takes an empty key at the start for JSON lines, and
// a key of digits for an index; and before a pipe it commits itself to what a
// wildcard has found.
func joins(s *step) bool {
	if s.piped {
		return false
	}
	switch s.kind {
	case stepLoose:
		return true
	case stepField:
		return s.glob != "" || s.key != "" && !allDigits(s.key)
	}
	return false
}

// component is the step, which is no pattern, as a component of a gjson path.
func (s *step) component() string {
	if s.kind == stepLoose {
		return s.key
	}
	return gjson.Escape(s.key)
}

// isList reports whether the path always yields a list, so that it would always
// be true as a condition.
func (p *path) isList() bool {
	list := false
	for i := range p.hops {
		switch h := &p.hops[i]; h.kind {
		case hopMap, hopAll:
			list = true
		case hopModifier:
			list = h.mod.makesList(list)
		default:
			list = false
		}
	}
	return list
}

// makesList reports whether the modifier yields a list, given that its input is
// surely one or may be anything.
func (m *modifier) makesList(list bool) bool {
	switch m.name {
	case "keys", "values", "group":
		return true
	case "reverse", "flatten", "this", "valid":
		return list
	}
	return false
}

// each returns the first [] of the path.
func (p *path) each() (step, bool) {
	for _, s := range p.steps {
		if s.kind == stepEach {
			return s, true
		}
	}
	return step{}, false
}
