package status

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Preset contains the rules for the responses of one API. The rules are evaluated separately on each object in a
// response. The verdict on the response is ERROR if an object has failed. It is SUCCESS only if there is at least
// one object, and every object is done.
type Preset struct {
	Name string
	// Object finds the objects in a response. If it is nil, the response is the only object. In rules, "." is the
	// object and $json is the response. If the run waits for each element of a list separately, an element is an
	// object, and Object is not used.
	Object *expr.Each
	// ID are expressions, such as .kind and .metadata.name. Their values together name an object in messages about
	// several objects.
	ID []*expr.Expr
	// Rules are evaluated once, on the whole response. They read values such as $exit, but not the members of an
	// object. If such a rule matches, the objects matter only if an object is ERROR or THROTTLED.
	Rules []Rule
	// Stanzas are the groups of rules for different kinds of objects. Each object is evaluated by the first stanza
	// that matches the object.
	Stanzas []Stanza
}

// A Stanza is a part of a preset: the rules for objects of one kind.
type Stanza struct {
	Name  string
	Match *expr.Expr // true for the objects that the stanza evaluates; nil matches every object
	// Kinds are the only values of .kind that Match can accept. Nil means that any value is possible. If there are
	// many stanzas, Kinds avoids the evaluation of most Match conditions.
	Kinds []string
	Rules []Rule
}

// naming returns two expressions, for the kind and for the name of a Kubernetes object.
var naming = sync.OnceValue(func() []*expr.Expr {
	kind, _ := expr.CompileValue(".kind")
	name, _ := expr.CompileValue(".metadata.name")
	return []*expr.Expr{kind, name}
})

// An Object is the verdict on one object in a response.
type Object struct {
	ID     string // the name of the object in messages
	Stanza string // the name of the stanza that evaluated the object, or "" if no stanza matched
	Status Status
	Reason string
}

// All returns the rules of p and of all its stanzas. It returns nil if p is nil.
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

// validate returns an error if p cannot be evaluated. A nil preset is valid.
func (p *Preset) validate() error {
	if p == nil {
		return nil
	}
	rules := p.All()
	switch err := validate(rules); {
	case err != nil:
		return err
	case len(p.Stanzas) == 0 || len(rules) == 0:
		return fmt.Errorf("preset %q has no rules for an object", p.Name)
	case slices.Contains(p.ID, nil):
		return fmt.Errorf("preset %q: an expression of the ID is nil", p.Name)
	}
	return nil
}

// id returns the name of an object in messages: the values of p.ID, separated by spaces. If there are no such
// values, it returns "object" and the number n, as in "object 2".
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

// preset evaluates p on each object in the response. It returns the verdict, and whether the rules of p decided.
// If they did not decide, preset sets e.words to the reason.
func (e *evaluation) preset(o *Observation, p *Preset) (Verdict, bool) {
	of, decided := e.firstMatch(o, p.Rules)
	if of.Status == Error || of.Status == Throttled || of.Abandoned {
		return of, true
	}
	objects, none := []*expr.Doc{e.env.Element}, ""
	if p.Object != nil && o.Within == nil {
		objects, _, none = p.Object.Elements(e.env.Doc)
	}
	if len(objects) == 0 {
		none = strings.TrimSuffix("no objects yet: "+none, ": ")
		objects = []*expr.Doc{expr.Unreadable(none)}
	}
	all, v := e.evaluateAll(o, p, objects, none != "")
	if !decided && v.Status == Success && p.Object != nil && o.Within == nil && e.meaning.NextPage != nil {
		isWhole := len(bytes.TrimSpace(objects[0].Bytes())) == len(bytes.TrimSpace(e.env.Doc.Bytes()))
		if next := e.meaning.NextPage(isWhole); next != "" {
			return Verdict{Status: NotReady, Reason: "the response is one of several pages: " + next + " names another page", Results: e.results}, true
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

// evaluateAll evaluates p on each of objects. none is true if the response contains no object, and objects contains
// only a placeholder. all is the result for each object, furthest from SUCCESS first. lead is the verdict with the
// gravest status: ERROR, then THROTTLED, NOT_READY, None (no rule matched) and SUCCESS. If the evaluation of an
// object is abandoned, all contains only that object.
func (e *evaluation) evaluateAll(o *Observation, p *Preset, objects []*expr.Doc, none bool) (all []Object, lead Verdict) {
	weight := func(s Status) int { return slices.Index([]Status{Success, None, NotReady, Throttled, Error}, s) }
	for i, object := range objects {
		env := *e.env
		env.Element = object
		part := evaluation{env: &env, meaning: e.meaning, admitted: e.admitted, none: none, detail: e.detail}
		one, v := part.object(o, p)
		if len(objects) > 1 || p.ID != nil {
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

// object evaluates one object by the rules of the first stanza that matches the object. It uses the last stanza in
// two other cases: if the response contains no object, or if no stanza matches an object that has a name but no
// kind. Some programs omit the kind, and so does the Kubernetes API server in lists.
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
		one.Status, one.Reason = NotReady, cmp.Or(e.want(), "no rule for SUCCESS matches")
	}
	return one, v
}

// summary returns the number of objects that are done, and the reasons for the first two objects that are not done.
// For a single object, it returns only the object's reason.
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
