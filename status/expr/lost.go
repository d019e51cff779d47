package expr

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// How much is looked at and shown of the members that a document has instead.
const (
	maxHints       = 2
	maxMembers     = 1000 // looked at
	maxMemberShown = 5
	maxMemberName  = 40 // in characters
)

// Hints says of the paths that lead nowhere in the answer what may have been
// meant: a member of nearly that name, a variable or, unless nearOnly is true,
// which members there are. It is empty for a match. It shows names of members,
// never their values. The expression is evaluated once more for it.
func (r Result) Hints(nearOnly bool) []string {
	if r.expr == nil || r.Tri == True || r.Abandoned() {
		return nil
	}
	return r.hints(nearOnly)
}

// Readable reports whether the answer was JSON, so that paths could be followed.
func (r Result) Readable() bool {
	if r.env == nil {
		return false
	}
	state := r.env.Doc.check()
	return state == docOne || state == docLines
}

func (r Result) hints(nearOnly bool) (hints []string) {
	s := &seeker{evaluator: newEvaluator(r.expr, r.env), src: r.expr.src, nearOnly: nearOnly, whole: "the document"}
	defer func() {
		if recover() != nil {
			hints = nil
		}
	}()
	s.node(r.expr.program.Root)
	return cutLines(s.hints, maxHints)
}

// A seeker looks for paths that lead nowhere.
type seeker struct {
	evaluator
	src      string
	nearOnly bool
	whole    string // what "." is, in words
	text     bool   // the path is compared with text, which no number is
	hints    []string
}

func (s *seeker) hint(text string) { s.hints = appendNew(s.hints, rawjson.OneLine(text)) }

// node looks at the paths whose absence was not asked for.
func (s *seeker) node(n syntax.Node) {
	switch n := syntax.Ungroup(n).(type) {
	case *syntax.Path:
		s.path(n, n.Lookups)
	case *syntax.Negation:
		s.node(n.X)
	case *syntax.Logic:
		for _, x := range n.Xs {
			s.node(x)
		}
	case *syntax.Comparison:
		if !isNullLiteral(n.Left) && !isNullLiteral(n.Right) {
			s.side(n.Left, n.Right)
			s.side(n.Right, n.Left)
		}
	case *syntax.Pipe:
		s.pipe(n)
	case *syntax.Call:
		s.call(n)
	}
}

// side looks at one side of a comparison.
func (s *seeker) side(n, other syntax.Node) {
	if l, ok := syntax.LiteralOf(other); ok && l.Kind == syntax.String {
		_, number := rawjson.NumberIn(l.Text)
		s.text = !number
	}
	s.node(n)
	s.text = false
}

func isNullLiteral(n syntax.Node) bool {
	l, ok := syntax.LiteralOf(n)
	return ok && l.Kind == syntax.Null
}

func (s *seeker) pipe(n *syntax.Pipe) {
	s.node(n.Xs[0])
	outer, whole := s.scope, s.whole
	for i, x := range n.Xs[1:] {
		v := s.value(n.Xs[i])
		if v.kind <= KindNull {
			break
		}
		s.enter(v, syntax.Span{})
		s.whole = syntax.Span{From: n.From, To: n.Xs[i].Where().To}.Of(s.src)
		s.node(x)
	}
	s.scope, s.whole = outer, whole
}

// call looks at the list of any, all and count, and at the condition for its first
// element.
func (s *seeker) call(n *syntax.Call) {
	if n.Function != syntax.FuncAny && n.Function != syntax.FuncAll && n.Function != syntax.FuncCount {
		return
	}
	if n.Each != nil {
		s.path(n.Each, n.Each.Lookups)
	}
	if n.Cond == nil {
		return
	}
	var first value
	s.elements(n, func(_ string, element value) bool {
		first = element
		return false
	})
	if first.kind <= KindNull {
		return
	}
	outer, whole := s.enter(first, syntax.Span{}), s.whole
	s.whole = "an element"
	s.node(n.Cond)
	s.scope, s.whole = outer, whole
}

// path follows lookups up to the member that is not there.
func (s *seeker) path(p *syntax.Path, lookups []syntax.Lookup) {
	v := s.root(p)
	word := p.FirstWord()
	for i := range lookups {
		h := &lookups[i]
		steps := h.Steps
		if h.Kind != syntax.LookupFields {
			steps = []syntax.Step{{Span: h.Span, Key: h.Key}}
		}
		for j := range steps {
			at := v
			if v = s.step(v, h, &steps[j], p); v.kind > KindMissing {
				continue
			}
			if i+j == 0 && word != "" && s.word(word, p) {
				return
			}
			if v.kind == KindMissing && at.kind == KindObject && !at.hidden && steps[j].Glob == "" && h.Kind <= syntax.LookupKey {
				s.member(at, p, &steps[j])
			}
			return
		}
	}
}

// step follows one step from a value; unknown ends the search.
func (s *seeker) step(v value, h *syntax.Lookup, step *syntax.Step, p *syntax.Path) value {
	switch {
	case v.kind == KindUnknown || v.kind == kindLines || h.Kind == syntax.LookupEach || h.Kind == syntax.LookupMap || h.Kind == syntax.LookupAll:
		return unknown(fault{})
	case v.isNull():
		return unknown(fault{})
	case h.Kind == syntax.LookupFields:
		next := s.looseField(v, step, p)
		next.hidden = v.hidden
		return next
	}
	next := s.lookup(v, h, p)
	next.hidden = v.hidden
	return next
}

// word hints at what the first word of a gjson path means to others.
func (s *seeker) word(name string, p *syntax.Path) bool {
	rest := s.src[p.Steps[0].To:p.To]
	switch index := "0"; {
	case name == "last" && rest != "":
		index = "-1"
		fallthrough
	case name == "first" && rest != "":
		s.hint("an element of a list is written with its index: .[" + index + "]" + rest + ", .items[" + index + "]" + rest)
		return true
	}
	hint := variableMeant(name, s.env)
	if hint == "" || s.text && (hint == hintExit || hint == hintStatus) {
		return false
	}
	s.hint(hint)
	return true
}

const (
	hintExit   = "$exit is the exit code"
	hintStatus = "$status is the HTTP status"
)

// variableMeant says which variable a bare word may stand for.
func variableMeant(name string, env *Env) string {
	const body = "$body is the text of the answer"
	switch strings.ToLower(name) {
	case "exit", "exit_code", "exitcode", "rc":
		if env.Status != nil {
			return hintStatus
		}
		return hintExit
	case "status", "status_code", "statuscode", "http_status", "http_code":
		if env.Exit != nil {
			return hintExit
		}
		return hintStatus
	case "stdout":
		if env.Status != nil {
			return body
		}
		return "$stdout is what the command wrote"
	case "stderr":
		return "$stderr is what a command wrote to stderr"
	case "body":
		return body
	case "header", "headers":
		return "$header.Retry-After is a header of the answer"
	case "attempt":
		return "$attempt is the number of the attempt"
	case "elapsed":
		return "$elapsed is the time since the start, such as $elapsed > 5m"
	case "isjson":
		return "$isjson asks whether the answer is JSON"
	}
	return ""
}

// member hints at what an object has instead of a member.
func (s *seeker) member(object value, p *syntax.Path, missing *syntax.Step) {
	names := members(object)
	before := strings.TrimSpace(s.src[p.From:p.Before(missing.From)])
	if meant := nearMember(missing.Key, names); meant != "" {
		s.hint("did you mean " + memberPath(before, meant) + "?")
		return
	}
	if s.nearOnly || len(names) == 0 {
		return
	}
	whole := before
	if whole == "" {
		whole = s.whole
	}
	s.hint(whole + " has: " + listMembers(names))
}

// members are the first names in an object, without those that are empty.
func members(object value) []string {
	var names []string
	seen := 0
	gjson.Result{Type: gjson.JSON, Raw: object.raw}.ForEach(func(key, _ gjson.Result) bool {
		if key.Str != "" {
			names = append(names, key.Str)
		}
		seen++
		return seen < maxMembers
	})
	return names
}

// nearMember is the name that was meant, "" if none is near.
func nearMember(word string, names []string) string {
	var short []string
	for _, name := range names {
		if len(name) > maxMemberName {
			continue
		}
		if strings.EqualFold(name, word) {
			return name
		}
		short = append(short, name)
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
		return ".[" + rawjson.Preview(name) + "]"
	}
	return before + "[" + rawjson.Preview(name) + "]"
}

func listMembers(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), maxMemberShown)] {
		name, cut := rawjson.Cut(name, maxMemberName)
		if cut {
			name += "..."
		}
		list = append(list, name)
	}
	if len(names) > maxMemberShown {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}
