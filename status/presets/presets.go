// Package presets has named rules for the states of APIs: Kubernetes, CI services, clouds and others, and all waiters of
// AWS. It also reads presets from a file.
package presets

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Preset is a named set of rules for the states of one API.
type Preset struct {
	Name    string
	Aliases []string // other names of the same rules
	API     string   // the API, in one line
	Example string   // a command line, quoted for a shell
	File    string   // file of the preset; "" for a built-in preset
	Text    string   // lines of the preset in File, without comments
	// Object is the path of the objects that the rules are about, such as .job, .builds[] or .items[] // . It is "" if the
	// rules are about the whole response. See [status.Preset].
	Object string
	// Match is the condition of a stanza: the stanza applies to the objects for which Match is true. A stanza has the
	// name NAME/X, and belongs to the group NAME. Match is "" for every other preset.
	Match string
	// Settings are settings of the wait. The caller applies them.
	Settings []Setting

	stanzas []Preset // stanzas of the group, evaluated before rules

	rules []rule   // in the order of evaluation
	note  string   // note for the reader; may be ""
	many  []string // command lines that wait for several objects; without --each, one command line per object
	// detail are expressions for the API's own explanation of a failure. The first value that is a string is added to
	// the reason of an ERROR, and in a group also to the reason of a NOT_READY.
	detail []string
}

// A Setting is one setting of a wait. Its values are not parsed yet.
type Setting struct {
	Key    string   // interval, timeout, max-wait, follow, each, success-threshold, error-threshold, id or print
	Values []string // id and print may have several values, every other key has one value
	At     string   // position of the first value, such as "mine.txt:3:11"
}

// A rule is a rule of a preset, not yet compiled.
type rule struct {
	Status status.Status
	Expr   string // a condition in the language of package expr
	Why    string // the reason when the rule matches; "" for the expression's own explanation
}

//go:embed presets.txt
var presetText string

// awsPrefix is the prefix of the names of all waiters of AWS.
const awsPrefix = "aws:"

// waitersFile holds the waiters of AWS as presets, compressed by gzip. scripts/aws-waiters writes the file.
//
//go:embed waiters.txt.gz
var waitersFile []byte

// groupText is the text of the group k8s, with its stanzas.
//
//go:embed k8s.txt
var groupText string

// All returns all built-in presets except the waiters of AWS. Presets of related APIs follow each other.
func All() []Preset { return builtin(presetText + "\n" + groupText) }

// Waiters returns the waiters of AWS, as botocore defines them. The order is the order of their services.
func Waiters() []Preset { return builtin(waiterText()) }

// waiterText returns the text of the presets in waitersFile.
func waiterText() string {
	r, _ := gzip.NewReader(bytes.NewReader(waitersFile)) // tests read the file, so it is not malformed
	text, _ := io.ReadAll(r)
	return string(text)
}

// Rules returns the rules of the built-in preset with this name or alias, for probes of this kind. It returns an error if
// there is no such preset, or if the preset does not fit the kind (see [Preset.Compile]).
func Rules(name string, kind status.Kind) (status.Rules, error) {
	p, found := Lookup(name)
	if !found {
		return status.Rules{}, fmt.Errorf("there is no preset %s", name)
	}
	preset, _, err := p.Compile(kind, false)
	return status.Rules{Preset: preset}, err
}

// Lookup returns the built-in preset with this name or alias, and whether there is such a preset. The name of a waiter of
// AWS is aws:SERVICE/WAITER, such as aws:rds/DBInstanceAvailable.
func Lookup(name string) (Preset, bool) {
	text := presetText
	if strings.HasPrefix(name, awsPrefix) {
		text = waiterText()
	}
	line := regexp.MustCompile(`(?m)^(name|alias): ` + regexp.QuoteMeta(name) + `$`)
	for _, part := range append(strings.Split(text, "\n\n"), groupText) {
		if line.MatchString(part) {
			list := builtin(part)
			return list[slices.IndexFunc(list, func(p Preset) bool { return p.Named(name) })], true
		}
	}
	return Preset{}, false
}

// builtin returns the presets in text, a part of the built-in presets. It panics if text is malformed.
func builtin(text string) []Preset {
	presets, err := read("", text, func(string, string) error { return nil }) // tests compile the expressions
	if err != nil {
		panic(err)
	}
	for i, p := range presets {
		presets[i] = p.With(presets)
	}
	return presets
}

// Group returns the name of the group of p, or "" if p is not a stanza.
func (p Preset) Group() string {
	if p.Match == "" {
		return ""
	}
	return p.Name[:max(0, strings.LastIndexByte(p.Name, '/'))]
}

// Stanzas returns the stanzas of a group in the order of evaluation. It returns nil for other presets.
func (p Preset) Stanzas() []Preset { return p.stanzas }

// With returns p, completed by related presets. If p is a group, With adds the stanzas of the group among presets, before
// the stanzas that p has. If p is a stanza and its group is among presets, p inherits the object, the id, the detail and
// the gates of the group. Gates are evaluated before all other stanzas.
func (p Preset) With(presets []Preset) Preset {
	var mine []Preset
	for _, other := range presets {
		switch {
		case other.Group() == p.Name && p.Match == "":
			mine = append(mine, other.inherit(p))
		case other.Name == p.Group() && other.Match == "":
			p = p.inherit(other)
			mine = append(mine, other.gatesFor(p)...)
		}
	}
	p.stanzas = slices.Concat(mine, p.stanzas)
	gates := slices.DeleteFunc(slices.Clone(p.stanzas), func(s Preset) bool { return !s.isGate() })
	p.stanzas = append(gates, slices.DeleteFunc(p.stanzas, Preset.isGate)...)
	return p
}

// isGate reports whether p is a stanza without a rule that ends a wait. A gate matches objects of any kind in a state that
// is not final, such as an object that is being deleted.
func (p Preset) isGate() bool {
	return p.Match != "" && !slices.ContainsFunc(p.rules, func(r rule) bool { return r.Status.Ends() })
}

// gatesFor returns the gates of the group p that stanza lacks.
func (p Preset) gatesFor(stanza Preset) (gates []Preset) {
	for _, s := range p.stanzas {
		isNamed := func(have Preset) bool { return have.Name == s.Name }
		if s.isGate() && !isNamed(stanza) && !slices.ContainsFunc(stanza.stanzas, isNamed) {
			gates = append(gates, s)
		}
	}
	return gates
}

// inherit returns the stanza p with the object, id and detail of group. The object and the id of p take precedence. The
// detail of the group is added, except to a gate.
func (p Preset) inherit(group Preset) Preset {
	p.Object = cmp.Or(p.Object, group.Object)
	if id := group.setting("id"); id != nil && p.setting("id") == nil {
		p.Settings = append(slices.Clip(p.Settings), *id)
	}
	if !p.isGate() { // a gate explains why the object's own explanation does not count
		p.detail = slices.Concat(p.detail, group.detail)
	}
	return p
}

// ID returns an identifier of the rules: presets with different rules, objects or stanzas have different identifiers.
func (p Preset) ID() string {
	id := fmt.Sprintf("%q", []any{p.Name, p.Object, p.Match, p.rules})
	for _, s := range p.stanzas {
		id += s.ID()
	}
	return id
}

// Named reports whether name is the name or an alias of p.
func (p Preset) Named(name string) bool { return p.Name == name || slices.Contains(p.Aliases, name) }

// setting returns the setting with this key, or nil.
func (p *Preset) setting(key string) *Setting {
	for i := range p.Settings {
		if p.Settings[i].Key == key {
			return &p.Settings[i]
		}
	}
	return nil
}

// Compile returns the compiled preset for probes of this kind, with its rules in the same order. It leaves out rules that
// read a value which such a probe never has, such as $exit for a URL. unfit lists these rules, for example
// "until: $exit == 0". ofObject is true if the rules are evaluated for the object itself, such as an element of a list.
// Then Compile also leaves out rules that read $json but not the object. For a preset of a file, unfit lists these
// rules, too.
//
// Compile returns an error if an expression is malformed, or if all rules of a stanza, or all its rules for SUCCESS, are left
// out. Without such rules every successful response would be a SUCCESS.
func (p Preset) Compile(kind status.Kind, ofObject bool) (preset *status.Preset, unfit []string, err error) {
	preset, known := &status.Preset{Name: p.Name}, map[string]*expr.Expr{}
	for _, s := range append(slices.Clip(p.stanzas), p) {
		stanza, left, err := s.compile(kind, ofObject, known)
		preset.Stanzas, unfit = append(preset.Stanzas, stanza), append(unfit, left...)
		if err != nil {
			return preset, unfit, err
		}
	}
	if p.Object == "" || ofObject {
		return preset, unfit, nil
	}
	last := &preset.Stanzas[len(p.stanzas)]
	isOfObject := func(r status.Rule) bool { return r.Expr.Reads("object") }
	preset.Rules = slices.DeleteFunc(slices.Clone(last.Rules), isOfObject)
	last.Rules = slices.DeleteFunc(last.Rules, func(r status.Rule) bool { return !isOfObject(r) })
	if preset.Object, err = expr.CompileObjects(p.Object); err != nil {
		return nil, nil, fmt.Errorf("compiling preset %s, object: %w", p.Name, err)
	}
	if id := p.setting("id"); id != nil {
		preset.ID, err = p.values("id", id.Values, known)
	}
	return preset, unfit, err
}

// compile returns the stanza with the rules of p, without p.stanzas. known caches compiled values by their source.
func (p Preset) compile(kind status.Kind, ofObject bool, known map[string]*expr.Expr) (stanza status.Stanza, unfit []string, err error) {
	stanza.Name = p.Name
	isOfGroup := p.Match != "" || p.stanzas != nil
	detail, err := p.values("detail", p.detail, known)
	if err == nil && p.Match != "" {
		if stanza.Match, err = expr.Compile(p.Match); err == nil {
			stanza.Kinds = stanza.Match.Requires(".kind")
		}
	}
	for _, r := range p.rules {
		rule, problem := status.NewRule(r.Status, r.Expr)
		if err = cmp.Or(err, problem); err != nil {
			return stanza, nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, r.Status.RuleName(), err)
		}
		rule.Origin, rule.Preset, rule.Why = "preset "+p.Name, p.Name, r.Why
		if r.Status == status.Error || r.Status == status.NotReady && isOfGroup {
			rule.Detail = detail
		}
		isOfAnswer := ofObject && p.Object != "" && rule.Expr.Reads("json") && !rule.Expr.Reads("object")
		switch {
		case isOfAnswer && p.File == "": // built-in presets have such rules on purpose
		case offers(kind, rule.Expr) && (ofObject || !rule.Expr.Reads("gone")) && !isOfAnswer:
			stanza.Rules = append(stanza.Rules, rule)
		default:
			unfit = append(unfit, r.Status.RuleName()+": "+r.Expr)
		}
	}
	return stanza, unfit, cmp.Or(err, p.lacks(kind, stanza.Rules, unfit))
}

// values compiles sources, the values of key, except expressions in known. It adds the compiled expressions to known.
func (p Preset) values(key string, sources []string, known map[string]*expr.Expr) (values []*expr.Expr, err error) {
	for _, source := range sources {
		if known[source] == nil {
			if known[source], err = expr.CompileValue(source); err != nil {
				return nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, key, err)
			}
		}
		values = append(values, known[source])
	}
	return values, nil
}

// lacks returns an error if unfit rules were left out, and rules has no rule, or no rule for SUCCESS although unfit has such
// a rule.
func (p Preset) lacks(kind status.Kind, rules []status.Rule, unfit []string) error {
	isUntil := func(r status.Rule) bool { return r.Status == status.Success }
	untils := slices.DeleteFunc(slices.Clone(unfit), func(text string) bool { return !strings.HasPrefix(text, status.Success.RuleName()) })
	switch {
	case len(untils) > 0 && !slices.ContainsFunc(rules, isUntil):
		return fmt.Errorf("preset %s: none of its until fits %s: %s", p.Name, kind, strings.Join(untils, "; "))
	case len(unfit) > 0 && len(rules) == 0:
		return fmt.Errorf("preset %s: none of its rules fits %s: %s", p.Name, kind, strings.Join(unfit, "; "))
	}
	return nil
}

// offers reports whether probes of kind k have all values that x reads.
func offers(k status.Kind, x *expr.Expr) bool {
	return (k == status.KindHTTP || !x.Reads("status", "header")) &&
		(k == status.KindCommand || !x.Reads("exit", "stdout", "stderr")) &&
		(k != status.KindTCP || !x.Reads(".", "isjson", "body", "error"))
}
