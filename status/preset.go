package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Preset says what the answers of an API mean. Each object of an answer is judged by itself: one that
// has failed is an ERROR, and SUCCESS needs at least one object, and all of them done. It must not be
// changed once it is in use.
type Preset struct {
	Name string
	// Object says which parts of an answer are objects; nil if the answer is the only one. A rule's "."
	// is the object, and $json the answer. An element of a list that is judged by itself is an object.
	Object *expr.Objects
	// ID are the values that name one of several objects, such as .kind and .metadata.name.
	ID []*expr.Expr
	// Stanzas are asked for each object in their order: the first that matches judges it. A rule of the
	// last one that reads nothing of an object, but $exit for instance, is asked about the answer once.
	Stanzas []Stanza

	once     sync.Once
	required []requirement // of the stanzas
	ofAnswer []Rule        // of the last stanza
	ofObject []Rule        // likewise
}

// A Stanza is the part of a preset for objects of one kind.
type Stanza struct {
	Name  string
	Match *expr.Expr // says which objects those are; nil for all
	Rules []Rule
}

// An Object is what a verdict says of one of the objects in an answer.
type Object struct {
	ID     string // that names it
	Stanza string // that has judged it, "" for none
	Status Status
	Reason string
}

// A requirement is that a path is one of some texts. It is cheaper to test than the condition that has it.
type requirement struct {
	path  *expr.Expr // nil for none
	texts []string
}

// Rules returns the rules of all stanzas.
func (p *Preset) Rules() (all []Rule) {
	if p != nil {
		for _, s := range p.Stanzas {
			all = append(all, s.Rules...)
		}
	}
	return all
}

// prepare finds out what the stanzas require, and which rules are about the answer.
func (p *Preset) prepare() {
	paths := map[string]*expr.Expr{}
	for _, s := range p.Stanzas {
		var r requirement
		if s.Match != nil {
			source, texts := s.Match.Requires()
			if paths[source] == nil && source != "" {
				paths[source], _ = expr.CompileValue(source) // a part of what has compiled
			}
			r = requirement{paths[source], texts}
		}
		p.required = append(p.required, r)
	}
	for _, r := range p.Stanzas[len(p.Stanzas)-1].Rules {
		if p.Object == nil || r.Expr.Reads("object", "gone") {
			p.ofObject = append(p.ofObject, r)
		} else {
			p.ofAnswer = append(p.ofAnswer, r)
		}
	}
}

// stanza returns the first stanza that matches an object, nil for none, and the rules for the object.
func (p *Preset) stanza(env *expr.Env) (*Stanza, []Rule) {
	read := map[*expr.Expr]string{}
	for i := range p.Stanzas {
		s, needs := &p.Stanzas[i], p.required[i]
		if needs.path != nil {
			text, known := read[needs.path]
			if !known {
				text = needs.path.Eval(env).Value().Text()
				read[needs.path] = text
			}
			if !slices.Contains(needs.texts, text) {
				continue
			}
		}
		switch {
		case s.Match != nil && !s.Match.Eval(env).Matched():
		case i == len(p.Stanzas)-1:
			return s, p.ofObject
		default:
			return s, s.Rules
		}
	}
	return nil, nil
}

// id names an object, by its number if it has no name.
func (p *Preset) id(env *expr.Env, n int) string {
	var parts []string
	for _, x := range p.ID {
		if v := x.Eval(env).Value(); v.Exists() {
			parts = append(parts, words.Shorten(v.Text(), maxLine))
		}
	}
	if name := strings.Join(parts, " "); name != "" {
		return name
	}
	return fmt.Sprintf("object %d", n)
}

// A judged is an object with the verdict on it, whose status is None if no rule has decided.
type judged struct {
	Object
	verdict Verdict
	answers []answer
}

// preset judges the objects of an answer. If nothing is decided, e.words says why.
func (e *evaluation) preset(o *Observation, p *Preset, isStrict bool) (Verdict, bool) {
	p.once.Do(p.prepare)
	if e.env == nil {
		e.env = e.environment(o)
	}
	if p.Object == nil || o.Within != nil {
		return e.together(o, p, e.judgeAll(o, p, []*expr.Doc{e.env.Element}), "", isStrict)
	}
	v, decided := e.firstMatch(o, p.ofAnswer)
	if decided && (v.Status == Error || v.Status == Throttled || v.Abandoned) {
		return v, true
	}
	objects, none := p.Object.Of(e.env.Doc)
	if e.none = len(objects) == 0; e.none {
		none = strings.TrimSuffix("no objects yet: "+none, ": ")
		objects = []*expr.Doc{expr.Unreadable(none)}
	}
	all := e.judgeAll(o, p, objects)
	e.none = false
	if lead := all[0].Status; decided && lead != Error && lead != Throttled {
		return v, true
	}
	return e.together(o, p, all, none, isStrict)
}

// judgeAll judges each object, and puts first what has failed, and last what is done.
func (e *evaluation) judgeAll(o *Observation, p *Preset, objects []*expr.Doc) []judged {
	isMany := len(objects) > 1
	all := make([]judged, 0, len(objects))
	for i, object := range objects {
		env := *e.env
		env.Element = object
		part := evaluation{ctx: e.ctx, env: &env, admitted: e.admitted, isPart: p.Object != nil, isMany: isMany, none: e.none}
		one := part.object(o, p)
		if one.answers = part.answers; isMany || p.ID != nil {
			one.ID = p.id(&env, i+1)
		}
		all = append(all, one)
		if one.verdict.Abandoned {
			return all[i:]
		}
	}
	rank := map[Status]int{Error: 0, Throttled: 1, NotReady: 2, None: 2, Success: 3}
	slices.SortStableFunc(all, func(a, b judged) int { return rank[a.Status] - rank[b.Status] })
	return all
}

// object judges one object.
func (e *evaluation) object(o *Observation, p *Preset) (one judged) {
	stanza, rules := &p.Stanzas[len(p.Stanzas)-1], p.ofObject
	if !e.none {
		stanza, rules = p.stanza(e.env)
	}
	if stanza == nil {
		one.Reason = "preset " + p.Name + " is about another kind of object: " + p.Stanzas[len(p.Stanzas)-1].Match.Eval(e.env).Explain().Lines[0]
		return one
	}
	one.Stanza = stanza.Name
	one.verdict, _ = e.firstMatch(o, rules)
	if one.Status, one.Reason = one.verdict.Status, one.verdict.Reason; one.Status == None {
		one.Reason = e.want()
	}
	return one
}

// together makes one verdict of those on all objects. One that no rule has decided keeps the others from
// deciding, where that is an error.
func (e *evaluation) together(o *Observation, p *Preset, all []judged, none string, isStrict bool) (Verdict, bool) {
	isUndecided := func(one judged) bool { return one.Status == None }
	isOpen := slices.ContainsFunc(all, isUndecided)
	lead := all[max(0, slices.IndexFunc(all, func(one judged) bool { return !isUndecided(one) }))]
	e.answers = append(e.answers, lead.answers...)
	e.words = none
	if len(all) > 1 || lead.Stanza == "" {
		e.words = summary(all)
	}
	for _, one := range all {
		one.Status = cmp.Or(one.Status, NotReady)
		if none == "" && (len(all) > 1 || p.ID != nil) {
			e.objects = append(e.objects, one.Object)
		}
	}
	v := lead.verdict
	if isOpen && (v.Status == None || v.Status == Success || v.Status == NotReady && isStrict && o.Good()) {
		return Verdict{}, false
	}
	v.Objects, v.answers, v.Reason = e.objects, e.answers, cmp.Or(e.words, v.Reason)
	return v, true
}

// summary says in words how many of some objects are done, and why the first two others are not.
func summary(all []judged) string {
	if len(all) == 1 {
		return all[0].Reason
	}
	var open []string
	for _, one := range all {
		if one.Status != Success {
			open = append(open, one.ID+": "+one.Reason)
		}
	}
	if open == nil {
		return fmt.Sprintf("all %d are done", len(all))
	}
	return fmt.Sprintf("%d of %d: %s", len(all)-len(open), len(all), strings.Join(open[:min(2, len(open))], "; "))
}
