package syntax

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Path says where in a document a value is.
type Path struct {
	Span
	Root    Root
	bare    bool // begins without a dot
	Steps   []Step
	Lookups []Lookup // what the steps are lowered to
}

// A Root says where a path begins.
type Root uint8

const (
	RootDot   Root = iota // the value that is looked at, usually the document
	RootJSON              // the whole document
	RootLines             // the documents of JSON lines
)

// A Step is one component of a path.
type Step struct {
	Span
	Kind    StepKind
	piped   bool           // joined by a tight | rather than by a dot
	Key     string         // StepField; StepLoose: the digits
	Pattern *regexp.Regexp // StepField: instead of the key, nil for most
	n       int            // StepIndex
	query   *Query
	mod     *Modifier
}

// A StepKind says what a step does.
type StepKind uint8

const (
	StepField    StepKind = iota // .name, ["name"]
	StepIndex                    // [n], of a list only
	StepLoose                    // .n, which gjson reads as an index or as a key
	StepEach                     // []
	StepCount                    // #
	StepQuery                    // #(...)
	StepQueryAll                 // #(...)#
	StepModifier                 // @name
)

// A Modifier is a step that makes a new value.
type Modifier struct {
	Name string
	Arg  string // JSON, "" for none
}

// A Lookup is one or more steps that are walked at once.
type Lookup struct {
	Span     // from the first step to the last
	Kind     LookupKind
	GJSON    string    // LookupFields: the gjson path of all steps
	Wild     bool      // LookupFields: a step is a pattern
	Steps    []Step    // LookupFields, LookupKey
	N        int       // LookupIndex, LookupLine
	Query    *Query    // LookupFirst, LookupAll, LookupAllCount
	Sub      []Lookup  // LookupMap, LookupAll: walked for each element
	Modifier *Modifier // LookupModifier
}

// A LookupKind says what a lookup does.
type LookupKind uint8

const (
	LookupFields   LookupKind = iota
	LookupKey                 // a key of an object that gjson would also take for an index
	LookupIndex               // [n]
	LookupEach                // []
	LookupLine                // ..n, a document of JSON lines
	LookupCount               // #
	LookupMap                 // #.x
	LookupFirst               // #(...)
	LookupAll                 // #(...)#
	LookupAllCount            // #(...)#|#, without making the list
	LookupModifier
)

// lower turns the steps of the path into lookups.
func (p *Path) lower() {
	if p.Root != RootLines || p.Steps[0].Kind != StepLoose {
		p.Lookups = lower(p.Steps)
		return
	}
	first := p.Steps[0]
	n, err := strconv.Atoi(first.Key)
	if err != nil {
		n = -1 // there are not so many
	}
	p.Lookups = append([]Lookup{{Span: first.Span, Kind: LookupLine, N: n}}, lower(p.Steps[1:])...)
}

func lower(steps []Step) []Lookup {
	var lookups []Lookup
	for len(steps) > 0 {
		var h Lookup
		h, steps = lowerOne(steps)
		lookups = append(lookups, h)
	}
	return lookups
}

// lowerOne makes the first lookup of steps, and returns the steps that are left.
func lowerOne(steps []Step) (Lookup, []Step) {
	s, rest := steps[0], steps[1:]
	h := Lookup{Span: s.Span, Query: s.query, Modifier: s.mod, N: s.n}
	switch s.Kind {
	case StepField, StepLoose:
		return lowerFields(steps)
	case StepIndex:
		h.Kind = LookupIndex
	case StepEach:
		h.Kind = LookupEach
	case StepModifier:
		h.Kind = LookupModifier
	case StepQuery:
		h.Kind = LookupFirst
	case StepCount:
		if h.Kind = LookupCount; mapped(rest) > 0 {
			h.Kind = LookupMap
		}
	case StepQueryAll:
		if h.Kind = LookupAll; len(rest) > 0 && rest[0].Kind == StepCount && rest[0].piped && mapped(rest[1:]) == 0 {
			h.Kind = LookupAllCount
			h.To = rest[0].To
			return h, rest[1:]
		}
	}
	if h.Kind == LookupMap || h.Kind == LookupAll {
		n := mapped(rest)
		h.Sub, rest = lower(rest[:n]), rest[n:]
	}
	return h, rest
}

// mapped is the number of steps that, after a step that yields a list, apply to
// each element: those up to the next pipe or bracket.
func mapped(steps []Step) int {
	for i, s := range steps {
		if s.piped || s.Kind == StepIndex || s.Kind == StepEach || s.bracketed() {
			return i
		}
	}
	return len(steps)
}

// bracketed reports whether the step is a key in brackets, which belongs to the
// whole of what stands before it.
func (s *Step) bracketed() bool { return s.Kind == StepField && s.n == bracketKey }

// bracketKey marks a StepField that was written in brackets.
const bracketKey = -1

// lowerFields joins the fields at the start of steps to one lookup.
func lowerFields(steps []Step) (Lookup, []Step) {
	if s := &steps[0]; s.Kind == StepField && s.Pattern == nil && (s.Key == "" || rawjson.IsDigits(s.Key)) {
		return Lookup{Span: s.Span, Kind: LookupKey, Steps: steps[:1]}, steps[1:]
	}
	n := 1
	for n < len(steps) && joins(&steps[n]) {
		n++
	}
	var b strings.Builder
	wild := false
	for i := range steps[:n] {
		wild = wild || steps[i].Pattern != nil
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(steps[i].Component())
	}
	h := Lookup{Kind: LookupFields, GJSON: b.String(), Wild: wild, Steps: steps[:n]}
	h.Span = Span{steps[0].From, steps[n-1].To}
	return h, steps[n:]
}

// joins reports whether gjson reads the step as it is meant when it is joined to
// the one before by a dot. It takes an empty key at the start for JSON lines, and
// a key of digits for an index; and before a pipe it commits itself to what a
// wildcard has found.
func joins(s *Step) bool {
	if s.piped {
		return false
	}
	switch s.Kind {
	case StepLoose:
		return true
	case StepField:
		return s.Pattern != nil || s.Key != "" && !rawjson.IsDigits(s.Key)
	}
	return false
}

// Component is the step, which is no pattern, as a component of a gjson path.
func (s *Step) Component() string {
	if s.Kind == StepLoose {
		return s.Key
	}
	return gjson.Escape(s.Key)
}

// isList reports whether the path always yields a list, so that it would always
// be true as a condition.
func (p *Path) isList() bool {
	list := false
	for i := range p.Lookups {
		switch h := &p.Lookups[i]; h.Kind {
		case LookupMap, LookupAll:
			list = true
		case LookupModifier:
			list = h.Modifier.makesList(list)
		default:
			list = false
		}
	}
	return list
}

// makesList reports whether the modifier yields a list, given that its input is
// surely one or may be anything.
func (m *Modifier) makesList(list bool) bool {
	switch m.Name {
	case "keys", "values", "group":
		return true
	case "reverse", "flatten", "this", "valid":
		return list
	}
	return false
}

// Each returns the first [] of the path.
func (p *Path) Each() (Step, bool) {
	for _, s := range p.Steps {
		if s.Kind == StepEach {
			return s, true
		}
	}
	return Step{}, false
}

// Before is where the part of the path ends that stands before a step.
func (p *Path) Before(step int) int {
	end := p.From
	if p.Root == RootJSON {
		end += len("$json")
	}
	for i := range p.Steps {
		if p.Steps[i].From >= step {
			break
		}
		end = p.Steps[i].To
	}
	return end
}

// FirstWord is the name that a bare path begins with, "" for another path.
func (p *Path) FirstWord() string {
	if !p.bare || len(p.Steps) == 0 || p.Steps[0].Kind != StepField || p.Steps[0].Pattern != nil {
		return ""
	}
	return p.Steps[0].Key
}
