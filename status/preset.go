package status

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Preset says what the answers of an API mean. Each object of an answer is judged by itself: one that
// has failed is an ERROR, and SUCCESS needs at least one object, and all of them done.
type Preset struct {
	Name string
	// Object says which parts of an answer are objects; nil if the answer is the only one. A rule's "."
	// is the object, and $json the answer. An element of a list that is judged by itself is an object.
	Object *expr.Each
	// ID are the values that name one of several objects, such as .kind and .metadata.name.
	ID []*expr.Expr
	// Rules are about the answer, which is asked once: they read nothing of an object, but $exit for
	// instance. One for NOT_READY is asked before those for SUCCESS of objects.
	Rules []Rule
	// Stanzas are asked for each object in their order: the first that matches judges it.
	Stanzas []Stanza
}

// A Stanza is the part of a preset for objects of one kind.
type Stanza struct {
	Name  string
	Match *expr.Expr // says which objects those are; nil for all
	// Kinds are the texts one of which .kind has to be for Match to be true, nil for any. Of many stanzas
	// they leave few to ask.
	Kinds []string
	Rules []Rule
}

// naming returns the paths of the kind and the name of an object.
var naming = sync.OnceValue(func() []*expr.Expr {
	kind, _ := expr.CompileValue(".kind")
	name, _ := expr.CompileValue(".metadata.name")
	return []*expr.Expr{kind, name}
})

// An Object is the verdict on one of the objects in an answer.
type Object struct {
	ID     string // that names it
	Stanza string // that has judged it, "" for none
	Status Status
	Reason string
}

// All returns the rules of all stanzas, and those about the answer.
func (p *Preset) All() (all []Rule) {
	if p == nil {
		return nil
	}
	all = slices.Clone(p.Rules)
	for _, s := range p.Stanzas {
		all = append(all, s.Rules...)
	}
	return all
}

// validate returns an error if the preset cannot be evaluated. A nil preset is valid.
func (p *Preset) validate() error {
	if p == nil {
		return nil
	}
	err, count := validate(p.Rules), len(p.Rules)
	for _, s := range p.Stanzas {
		err, count = cmp.Or(err, validate(s.Rules)), count+len(s.Rules)
	}
	switch {
	case err != nil:
		return err
	case len(p.Stanzas) == 0 || count == 0:
		return fmt.Errorf("preset %q has no rules for an object", p.Name)
	case slices.Contains(p.ID, nil):
		return fmt.Errorf("preset %q: an expression of the ID is nil", p.Name)
	}
	return nil
}

// id names an object, by its number if it has no name.
func (p *Preset) id(env *expr.Env, n int) string {
	var parts []string
	for _, x := range p.ID {
		if v := x.Eval(env).Value(); v.Exists() {
			parts = append(parts, words.Shorten(v.Text(), words.MaxExcerpt))
		}
	}
	if name := strings.Join(parts, " "); name != "" {
		return name
	}
	return fmt.Sprintf("object %d", n)
}

// preset judges the objects of an answer. If nothing is decided, e.words says why.
func (e *evaluation) preset(o *Observation, p *Preset) (Verdict, bool) {
	of, decided := e.firstMatch(o, p.Rules)
	if of.Status == Error || of.Status == Throttled || of.Abandoned {
		return of, true
	}
	env := e.environment(o)
	objects, none := []*expr.Doc{env.Element}, ""
	if p.Object != nil && o.Within == nil {
		objects, _, none = p.Object.Elements(env.Doc)
	}
	if len(objects) == 0 {
		none = strings.TrimSuffix("no objects yet: "+none, ": ")
		objects = []*expr.Doc{expr.Unreadable(none)}
	}
	all, v := e.judgeAll(o, p, objects, none != "")
	if !decided && v.Status == Success && p.Object != nil && o.Within == nil {
		if next := e.nextPage(o, objects[0]); next != "" {
			return Verdict{Status: NotReady, Reason: "the answer is one page of more, as " + next + " says", Results: e.results}, true
		}
	}
	switch {
	case decided && v.Status != Error && v.Status != Throttled:
		return of, true
	case none != "" && v.Status == None:
		e.words = none
	case len(all) > 1, all[0].Stanza == "", v.Status == None:
		e.words = summary(all)
	}
	if none == "" && all[0].ID != "" {
		e.objects = all
	}
	e.results = append(e.results, v.Results...)
	v.Objects, v.Results, v.Reason = e.objects, e.results, cmp.Or(e.words, v.Reason)
	return v, v.Status != None
}

// nextPage returns what says that an answer with an object is one page of more, "" for nothing. An object that
// is the whole answer is no page, whatever its members are called.
func (e *evaluation) nextPage(o *Observation, object *expr.Doc) string {
	if _, found := document.NextLink(o.Header["Link"]); found {
		return "its Link"
	}
	if len(bytes.TrimSpace(object.Bytes())) == len(bytes.TrimSpace(e.env.Doc.Bytes())) {
		return ""
	}
	return document.ReadPage(o.Body, o.Header).Next(1)
}

// judgeAll judges each object. It returns first what has failed, and last what is done, and the verdict
// that outweighs the others, of no status if an object that no rule has decided does.
func (e *evaluation) judgeAll(o *Observation, p *Preset, objects []*expr.Doc, none bool) (all []Object, lead Verdict) {
	weight := func(s Status) int { return slices.Index([]Status{Success, None, NotReady, Throttled, Error}, s) }
	for i, object := range objects {
		env := *e.env
		env.Element = object
		part := evaluation{ctx: e.ctx, env: &env, meaning: e.meaning, admitted: e.admitted, isPart: p.Object != nil, isMany: len(objects) > 1, none: none, detail: e.detail}
		one, v := part.object(o, p)
		if part.isMany || p.ID != nil {
			one.ID = p.id(&env, i+1)
		}
		if i == 0 || weight(v.Status) > weight(lead.Status) {
			lead = v
		}
		if all = append(all, one); v.Abandoned {
			return all[i:], v
		}
	}
	slices.SortStableFunc(all, func(a, b Object) int { return weight(b.Status) - weight(a.Status) })
	return all, lead
}

// object evaluates the rules of one object. They are those of the last stanza if no object exists, or if the
// object has a name and no kind: some programs and the API server's own lists omit the kind.
func (e *evaluation) object(o *Observation, p *Preset) (one Object, v Verdict) {
	kind := naming()[0].Eval(e.env).Value()
	matches := func(s Stanza) bool {
		return (s.Kinds == nil || slices.Contains(s.Kinds, kind.Text())) && (s.Match == nil || s.Match.Eval(e.env).Matched())
	}
	at := -1
	if !e.none {
		at = slices.IndexFunc(p.Stanzas, matches)
	}
	if e.none || at < 0 && !kind.Exists() && naming()[1].Eval(e.env).Value().Exists() {
		at = len(p.Stanzas) - 1
	}
	if at < 0 {
		why := fmt.Sprintf(".kind is %q", kind.Text())
		if match := p.Stanzas[len(p.Stanzas)-1].Match; match != nil {
			why = match.Eval(e.env).Explain().Lines[0]
		}
		return Object{Status: NotReady, Reason: "preset " + p.Name + " is about another kind of object: " + why}, v
	}
	v, decided := e.firstMatch(o, p.Stanzas[at].Rules)
	one = Object{Stanza: p.Stanzas[at].Name, Status: v.Status, Reason: v.Reason}
	if v.Results = e.results; !decided {
		one.Status, one.Reason = NotReady, cmp.Or(e.want(), "no rule says that it is done")
	}
	return one, v
}

// summary says in words how many of some objects are done, and why the first two others are not.
func summary(all []Object) string {
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
