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
	Kind     LookupKind     // what it is by itself; LookupFields for a name
	Key      string         // LookupFields: the name
	Pattern  *regexp.Regexp // LookupFields: instead of the name, nil for most
	Loose    bool           // LookupFields: .n, which gjson reads as an index or as a key
	N        int            // LookupIndex, LookupLine
	Query    *Query         // LookupFirst, LookupAll, LookupAllCount
	Modifier *Modifier      // LookupModifier

	bracket bool // in brackets, which apply to all that comes before
	piped   bool // joined by a | without spaces, not by a dot
}

// A Modifier is a step that makes a new value.
type Modifier struct {
	Name string
	Arg  string // JSON, "" for none
}

// A Lookup is one or more steps that are walked at once. Its Step is the first of them,
// except for Span and Kind.
type Lookup struct {
	Step
	GJSON string   // LookupFields: the gjson path of all steps
	Wild  bool     // LookupFields: a step is a pattern
	Steps []Step   // LookupFields, LookupKey
	Sub   []Lookup // LookupMap, LookupAll: walked for each element
}

// A LookupKind says what a lookup does.
type LookupKind uint8

const (
	LookupFields   LookupKind = iota // .name, ["name"], .n
	LookupKey                        // a key of an object that gjson would also take for an index
	LookupIndex                      // [n], of a list only
	LookupEach                       // []
	LookupLine                       // ..n, a document of JSON lines
	LookupCount                      // #
	LookupMap                        // #.x
	LookupFirst                      // #(...)
	LookupAll                        // #(...)#
	LookupAllCount                   // #(...)#|#, without making the list
	LookupModifier                   // @name
)

// lower turns the steps of the path into lookups.
func (p *Path) lower() {
	if p.Root == RootLines && len(p.Steps) > 0 && p.Steps[0].Loose {
		line := &p.Steps[0]
		line.Kind = LookupLine
		n, err := strconv.Atoi(line.Key)
		if line.N = n; err != nil {
			line.N = -1 // out of range: there is no such line
		}
	}
	p.Lookups = lower(p.Steps)
}

// lower turns steps into lookups.
func lower(steps []Step) []Lookup {
	var lookups []Lookup
	for len(steps) > 0 {
		l := Lookup{Step: steps[0]}
		n := l.take(steps)
		l.To = steps[n-1].To
		lookups, steps = append(lookups, l), steps[n:]
		if l.Kind == LookupMap || l.Kind == LookupAll {
			n := mapped(steps)
			lookups[len(lookups)-1].Sub, steps = lower(steps[:n]), steps[n:]
		}
	}
	return lookups
}

// take extends the lookup of the first step to as many steps as possible, and returns
// their number.
func (l *Lookup) take(steps []Step) int {
	rest := steps[1:]
	switch {
	case l.Kind == LookupFields:
		return l.takeFields(steps)
	case l.Kind == LookupCount && mapped(rest) > 0:
		l.Kind = LookupMap
	case l.Kind == LookupAll && len(rest) > 0 && rest[0].Kind == LookupCount && rest[0].piped && mapped(rest[1:]) == 0:
		l.Kind = LookupAllCount
		return 2
	}
	return 1
}

// mapped is the number of steps that, after a step that yields a list, apply to
// each element: those up to the next pipe or bracket.
func mapped(steps []Step) int {
	for i, s := range steps {
		if s.piped || s.bracket {
			return i
		}
	}
	return len(steps)
}

// takeFields joins the fields at the start of steps.
func (l *Lookup) takeFields(steps []Step) int {
	n := 1
	if !steps[0].joins() {
		l.Kind = LookupKey
	} else {
		for n < len(steps) && !steps[n].piped && steps[n].joins() {
			n++
		}
	}
	l.Steps = steps[:n]
	components := make([]string, n)
	for i := range l.Steps {
		components[i] = steps[i].Component()
		l.Wild = l.Wild || steps[i].Pattern != nil
	}
	l.GJSON = strings.Join(components, ".")
	return n
}

// joins reports whether gjson reads the step as it is meant when others are joined to it
// by a dot. It takes an empty key at the start for JSON lines, a key of digits for an
// index, and before a pipe only the first match of a wildcard.
func (s *Step) joins() bool {
	return s.Kind == LookupFields && (s.Loose || s.Pattern != nil || !rawjson.IsDigits(s.Key))
}

// Component is the step, which must not be a pattern, as a component of a gjson path.
func (s *Step) Component() string {
	if s.Loose {
		return s.Key
	}
	return gjson.Escape(s.Key)
}

// isList reports whether the path always yields a list, and so would always be true as a
// condition.
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

// makesList reports whether the modifier yields a list; list tells whether its input is
// known to be one.
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
		if s.Kind == LookupEach {
			return s, true
		}
	}
	return Step{}, false
}

// Names returns the names of members that lead to the one list that the path iterates over,
// each as JSON writes it without quotes; nil for any other path.
func (p *Path) Names() []string {
	names := []string{}
	for i, s := range p.Steps {
		switch last := i == len(p.Steps)-1; {
		case last && s.Kind == LookupEach && p.Root != RootLines:
			return names
		case s.Kind != LookupFields || s.Loose || s.Pattern != nil || rawjson.Quote(s.Key) != `"`+s.Key+`"`:
			return nil
		}
		names = append(names, s.Key)
	}
	return nil
}

// Before is the end of the part of the path before a step.
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
	if !p.bare || len(p.Steps) == 0 || p.Steps[0].Kind != LookupFields || p.Steps[0].Pattern != nil || p.Steps[0].Loose {
		return ""
	}
	return p.Steps[0].Key
}
