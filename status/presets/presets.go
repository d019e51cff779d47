// Package presets contains named sets of rules for the states of well-known APIs, such as those of Kubernetes, CI
// services and clouds, and for all AWS waiters. It also reads presets from files.
//
// The files:
//
//	presets.go      built-in presets: names, groups of presets, and rules as compiled expressions
//	read.go         the syntax of a preset file: its keys and its errors
//	presets.txt     the built-in presets
//	k8s.txt         the presets for the kinds of Kubernetes
//	waiters.txt.gz  the AWS waiters, which scripts/aws-waiters generates
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
	Aliases []string // other names of this preset
	API     string   // a description of the API, on one line
	Example string   // a command line that uses the preset, quoted for a shell
	File    string   // the file that the preset was read from; "" for a built-in preset
	Text    string   // the lines of the preset in File, without comments
	// Object is the path of the objects that the rules evaluate, such as .job, .builds[] or .items[] // . (an
	// expression for [expr.CompileObjects]). If it is "", the rules evaluate the response as a whole. See
	// [status.Preset].
	Object string
	// Match is set if the preset is a stanza, which is one part of a group of presets. It is the condition that
	// selects the objects that the stanza evaluates. A stanza has a name of the form GROUP/KIND, and belongs to
	// the preset named GROUP. For every other preset, Match is "".
	Match string
	// Settings are further settings of the wait, such as its interval. The caller applies them.
	Settings []Setting

	stanzas []Preset // the stanzas of the group, which are tried before the group's own rules

	rules []rule   // in the order of evaluation
	note  string   // a note for users; may be ""
	many  []string // command lines that wait for several objects: one line with --each, or a line for each object
	// detail are expressions that find the API's own explanation of a failure. The first value that is a string is
	// added to the reason of an ERROR, and in a group also to the reason of a NOT_READY.
	detail []string
}

// A Setting is one setting of a wait, whose values are still strings.
type Setting struct {
	Key    string   // interval, timeout, max-wait, follow, each, success-threshold, error-threshold, id or print
	Values []string // one value, except that id and print may have several
	At     string   // the position of the first value in its file, such as "mine.txt:3:11"
}

// A rule is a rule of a preset before it is compiled.
type rule struct {
	Status status.Status
	Expr   string // a condition in the language of package expr
	Why    string // the reason of the verdict if the rule matches; "" for the expression's own explanation
}

//go:embed presets.txt
var presetText string

// awsPrefix is the prefix of the names of AWS waiters.
const awsPrefix = "aws:"

// waitersFile contains the AWS waiters as presets, compressed with gzip. The program scripts/aws-waiters writes
// the file.
//
//go:embed waiters.txt.gz
var waitersFile []byte

// groupText contains the group k8s and its stanzas.
//
//go:embed k8s.txt
var groupText string

// All returns the built-in presets except the AWS waiters. Presets of related APIs are adjacent.
func All() []Preset { return builtin(presetText + "\n" + groupText) }

// Waiters returns the AWS waiters, in the order of their services. botocore, the AWS library for Python, defines
// them.
func Waiters() []Preset { return builtin(waiterText()) }

// waiterText returns the uncompressed content of waitersFile.
func waiterText() string {
	r, _ := gzip.NewReader(bytes.NewReader(waitersFile)) // a test reads the file, so it is not malformed
	text, _ := io.ReadAll(r)
	return string(text)
}

// Rules returns the rules of a built-in preset, for probes of the given kind. name is the name or an alias of the
// preset. Rules returns an error if there is no such preset, or if its rules cannot be used for such probes (see
// [Preset.Compile]).
func Rules(name string, kind status.Kind) (status.Rules, error) {
	p, found := Lookup(name)
	if !found {
		return status.Rules{}, fmt.Errorf("there is no preset %s", name)
	}
	preset, _, err := p.Compile(kind, false)
	return status.Rules{Preset: preset}, err
}

// Lookup returns the built-in preset with the given name or alias, and whether it exists. The name of an AWS
// waiter has the form aws:SERVICE/WAITER, such as aws:rds/DBInstanceAvailable.
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

// builtin returns the presets in text, which is part of the built-in presets. It panics if text is malformed.
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

// Group returns the name of the group that contains p, or "" if p is not a stanza.
func (p Preset) Group() string {
	if p.Match == "" {
		return ""
	}
	return p.Name[:max(0, strings.LastIndexByte(p.Name, '/'))]
}

// Stanzas returns the stanzas of a group, in the order of evaluation. If p is not a group, it returns nil.
func (p Preset) Stanzas() []Preset { return p.stanzas }

// With returns p, completed with the related presets in presets. If p is a group, With inserts the group's stanzas in
// presets ahead of the stanzas that p already has. If p is a stanza and its group is in presets, p inherits the
// object path, the id, the detail and the gates of the group. A gate is a stanza for objects of any kind in a state
// that is not final. Gates are evaluated before all other stanzas.
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

// isGate reports whether p is a gate: a stanza that has no rules for SUCCESS or ERROR, and therefore cannot end a
// wait. A gate is meant for objects of any kind in a state that is not final, such as objects that are being deleted.
func (p Preset) isGate() bool {
	return p.Match != "" && !slices.ContainsFunc(p.rules, func(r rule) bool { return r.Status.Ends() })
}

// gatesFor returns the gates of p, which is a group, except stanza itself and the gates that stanza already has.
func (p Preset) gatesFor(stanza Preset) (gates []Preset) {
	for _, s := range p.stanzas {
		isNamed := func(have Preset) bool { return have.Name == s.Name }
		if s.isGate() && !isNamed(stanza) && !slices.ContainsFunc(stanza.stanzas, isNamed) {
			gates = append(gates, s)
		}
	}
	return gates
}

// inherit returns the stanza p with the object path, the id and the detail of group. An object path or id that p
// already has takes precedence. The detail of group is added to the detail of p, unless p is a gate.
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

// ID returns a string that identifies the rules. Two presets that differ in their names, rules, object paths,
// conditions or stanzas have different IDs.
func (p Preset) ID() string {
	id := fmt.Sprintf("%q", []any{p.Name, p.Object, p.Match, p.rules})
	for _, s := range p.stanzas {
		id += s.ID()
	}
	return id
}

// Named reports whether name is the name or an alias of p.
func (p Preset) Named(name string) bool { return p.Name == name || slices.Contains(p.Aliases, name) }

// setting returns the setting with the given key, or nil.
func (p *Preset) setting(key string) *Setting {
	for i := range p.Settings {
		if p.Settings[i].Key == key {
			return &p.Settings[i]
		}
	}
	return nil
}

// Compile compiles the preset for probes of the given kind. It leaves out rules that read a value that such probes
// never have, such as $exit for a URL. It returns these rules as unfit, in a form such as "until: $exit == 0".
//
// ofObject is true if the observations are about one object, such as an element of a list, and not about a whole
// response. Compile then also leaves out rules that read the response ($json) but nothing of the object. It adds
// such a rule to unfit only if the preset was read from a file, because built-in presets contain such rules on
// purpose.
//
// Compile returns an error if an expression is malformed. It also returns an error if all rules of a stanza are
// left out, or all its rules for SUCCESS, because every successful response would then be a SUCCESS.
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

// compile returns the rules of p as a stanza, which is the part of a preset for one kind of object. It ignores
// p.stanzas. The parameters and the result unfit are the same as for Compile. known maps the sources of expressions
// to expressions that are already compiled.
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
		isOfResponse := ofObject && p.Object != "" && rule.Expr.Reads("json") && !rule.Expr.Reads("object")
		switch {
		case isOfResponse && p.File == "": // built-in presets contain such rules on purpose
		case offers(kind, rule.Expr) && (ofObject || !rule.Expr.Reads("gone")) && !isOfResponse:
			stanza.Rules = append(stanza.Rules, rule)
		default:
			unfit = append(unfit, r.Status.RuleName()+": "+r.Expr)
		}
	}
	return stanza, unfit, cmp.Or(err, p.lacks(kind, stanza.Rules, unfit))
}

// values compiles sources, the values of key. It reuses expressions in known, and adds newly compiled expressions to
// known.
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

// lacks returns an error if no rules remain, or no rules for SUCCESS, after the rules in unfit were left out.
// Otherwise, it returns nil. rules are the rules that remain.
func (p Preset) lacks(kind status.Kind, rules []status.Rule, unfit []string) error {
	isUntil := func(r status.Rule) bool { return r.Status == status.Success }
	untils := slices.DeleteFunc(slices.Clone(unfit), func(text string) bool { return !strings.HasPrefix(text, status.Success.RuleName()) })
	switch {
	case len(untils) > 0 && !slices.ContainsFunc(rules, isUntil):
		return fmt.Errorf("preset %s: none of its until conditions fits %s: %s", p.Name, kind, strings.Join(untils, "; "))
	case len(unfit) > 0 && len(rules) == 0:
		return fmt.Errorf("preset %s: none of its rules fits %s: %s", p.Name, kind, strings.Join(unfit, "; "))
	}
	return nil
}

// offers reports whether probes of kind k can provide all values that x reads.
func offers(k status.Kind, x *expr.Expr) bool {
	return (k == status.KindHTTP || !x.Reads("status", "header")) &&
		(k == status.KindCommand || !x.Reads("exit", "stdout", "stderr")) &&
		(k != status.KindTCP || !x.Reads(".", "isjson", "body", "error"))
}
