package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// Limits on the hints, and on the members of an object in them.
const (
	maxHints        = 2
	maxMembers      = 1000 // looked at
	maxMembersShown = 5
	maxMemberName   = 40 // in characters
)

// Hints suggests what was meant by paths that lead nowhere in the answer: a member of
// nearly that name, a variable or, unless nearOnly is true, the members that there are.
// It is empty for a match. It shows names of members, never their values, and evaluates
// the expression once more.
func (r Result) Hints(nearOnly bool) []string {
	if r.expr == nil || r.expr.jq != nil || r.Tri == True || r.Abandoned() {
		return nil
	}
	h := &hinter{evaluator: newEvaluator(r.expr, r.env), src: r.expr.src, nearOnly: nearOnly, whole: "the document"}
	if r.env.Element != nil {
		h.whole = "the element"
	}
	h.search(r.expr.program.Root)
	return distinct(h.hints, maxHints)
}

// Readable reports whether the answer was JSON, so that paths could be followed.
func (r Result) Readable() bool {
	return r.env != nil && r.env.dot().read().count > 0
}

// A hinter looks for paths that lead nowhere.
type hinter struct {
	evaluator
	src      string
	nearOnly bool
	whole    string // what "." is, in words
	text     bool   // the path is compared with text that is not a number
	hints    []string
}

// search looks at the paths of the whole expression, if there is time.
func (h *hinter) search(n syntax.Node) {
	defer func() {
		if recover() != nil {
			h.hints = nil
		}
	}()
	h.node(n)
}

func (h *hinter) hint(text string) { h.hints = append(h.hints, rawjson.OneLine(text)) }

// node looks at the paths, except those compared with null.
func (h *hinter) node(n syntax.Node) {
	switch n := syntax.Ungroup(n).(type) {
	case *syntax.Path:
		h.path(n)
	case *syntax.Negation:
		h.node(n.X)
	case *syntax.Logic:
		for _, x := range n.Xs {
			h.node(x)
		}
	case *syntax.Comparison:
		if !isNull(n.Left) && !isNull(n.Right) {
			h.side(n.Left, n.Right)
			h.side(n.Right, n.Left)
		}
	case *syntax.Pipe:
		h.pipe(n, 0)
	case *syntax.Call:
		h.call(n)
	}
}

// side looks at one side of a comparison.
func (h *hinter) side(n, other syntax.Node) {
	if l, ok := syntax.LiteralOf(other); ok && l.Kind == syntax.String {
		_, number := rawjson.NumberIn(l.Text)
		h.text = !number
	}
	h.node(n)
	h.text = false
}

func isNull(n syntax.Node) bool {
	l, ok := syntax.LiteralOf(n)
	return ok && l.Kind == syntax.Null
}

// pipe looks at the parts of a pipe from the i-th on.
func (h *hinter) pipe(n *syntax.Pipe, i int) {
	part := n.Xs[i]
	h.node(part)
	if i+1 == len(n.Xs) {
		return
	}
	before := syntax.Span{From: n.From, To: part.Where().To}
	h.within(h.value(part), before.Of(h.src), func() { h.pipe(n, i+1) })
}

// call looks at the list of any, all and count, and at the condition for its first
// element.
func (h *hinter) call(n *syntax.Call) {
	if n.Function != syntax.FuncAny && n.Function != syntax.FuncAll && n.Function != syntax.FuncCount {
		return
	}
	if n.Each != nil {
		h.path(n.Each)
	}
	if n.Cond == nil {
		return
	}
	var first value
	h.elements(n, func(_ string, element value) bool {
		first = element
		return false
	})
	h.within(first, "an element", func() { h.node(n.Cond) })
}

// within looks at a part with dot as ".", unless dot has no value.
func (h *hinter) within(dot value, whole string, look func()) {
	if dot.kind <= KindNull {
		return
	}
	scope, outer := h.enter(dot, syntax.Span{}), h.whole
	h.whole = whole
	look()
	h.scope, h.whole = scope, outer
}

// path follows a path up to the member that is not there.
func (h *hinter) path(p *syntax.Path) {
	v, word := h.root(p), p.FirstWord()
	for i := range p.Lookups {
		l := &p.Lookups[i]
		for j := range max(1, len(l.Steps)) {
			object := v
			v = h.step(p, v, l, j)
			if v.kind > KindMissing {
				continue
			}
			if i+j == 0 && word != "" && h.word(word, p) {
				return
			}
			isMember := object.kind == KindObject && len(l.Steps) > 0 && l.Steps[j].Pattern == nil
			if v.kind == KindMissing && isMember && !object.hidden {
				h.member(object, p, &l.Steps[j])
			}
			return
		}
	}
}

// step follows the j-th step of a lookup; unknown ends the search.
func (h *hinter) step(p *syntax.Path, v value, l *syntax.Lookup, j int) value {
	found := value{}
	switch {
	case v.kind <= KindNull, l.Kind == syntax.LookupEach, l.Kind == syntax.LookupMap, l.Kind == syntax.LookupAll:
	case l.Kind == syntax.LookupFields:
		found = h.field(p, v, &l.Steps[j])
	default:
		found = h.lookup(p, v, l)
	}
	found.hidden = v.hidden
	return found
}

// word hints at what the first word of a gjson path may have been meant for.
func (h *hinter) word(name string, p *syntax.Path) bool {
	index := map[string]string{"first": "[0]", "last": "[-1]"}[name]
	if rest := p.Of(h.src)[p.Steps[0].To-p.From:]; index != "" && rest != "" {
		h.hint("an element of a list is written with its index: ." + index + rest + ", .items" + index + rest)
		return true
	}
	hint := h.variable(strings.ToLower(name))
	if hint != "" {
		h.hint(hint)
	}
	return hint != ""
}

// variable says which variable a bare word may stand for.
func (h *hinter) variable(word string) string {
	switch word {
	case "exit", "exit_code", "exitcode", "rc":
		word = "exit"
		if h.env.Status != nil {
			word = "status"
		}
	case "status", "status_code", "statuscode", "http_status", "http_code":
		word = "status"
		if h.env.Exit != nil {
			word = "exit"
		}
	case "stdout":
		if h.env.Status != nil {
			word = "body"
		}
	case "headers":
		word = "header"
	}
	if h.text && (word == "exit" || word == "status") {
		return ""
	}
	return map[string]string{
		"exit":    "$exit is the exit code",
		"status":  "$status is the HTTP status",
		"body":    "$body is the text of the answer",
		"stdout":  "$stdout is what the command wrote",
		"stderr":  "$stderr is what a command wrote to stderr",
		"header":  "$header.Retry-After is a header of the answer",
		"attempt": "$attempt is the number of the attempt",
		"elapsed": "$elapsed is the time since the start, such as $elapsed > 5m",
		"isjson":  "$isjson asks whether the answer is JSON",
	}[word]
}

// member hints at the members of an object that lacks one.
func (h *hinter) member(object value, p *syntax.Path, missing *syntax.Step) {
	names := members(object)
	before := strings.TrimSpace(h.src[p.From:p.Before(missing.From)])
	if meant := nearestMember(missing.Key, names); meant != "" {
		h.hint("did you mean " + memberPath(before, meant) + "?")
		return
	}
	if h.nearOnly || len(names) == 0 {
		return
	}
	more := ""
	if len(names) > maxMembersShown {
		names, more = names[:maxMembersShown], ", ..."
	}
	for i, name := range names {
		if cut, wasCut := rawjson.Cut(name, maxMemberName); wasCut {
			names[i] = cut + "..."
		}
	}
	h.hint(cmp.Or(before, h.whole) + " has: " + strings.Join(names, ", ") + more)
}

// members are the first names in an object, without those that are empty.
func members(object value) []string {
	var names []string
	each(object, func(i int, name string, _ gjson.Result) bool {
		if name != "" {
			names = append(names, name)
		}
		return i+1 < maxMembers
	})
	return names
}

// nearestMember is the name that was meant, "" if none is near.
func nearestMember(word string, names []string) string {
	short := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > maxMemberName })
	if i := slices.IndexFunc(short, func(name string) bool { return strings.EqualFold(name, word) }); i >= 0 {
		return short[i]
	}
	if len(word) < 3 || len(word) > maxMemberName {
		return "" // nearly everything is near
	}
	return words.Nearest(word, short)
}

// memberPath spells the path of a member.
func memberPath(before, name string) string {
	switch {
	case syntax.IsName(name):
		return before + "." + name
	case before == "":
		before = "."
	}
	return before + "[" + rawjson.Preview(name) + "]"
}
