// Package presets has named rules, which say what the states of one API mean: of
// Kubernetes, CI services, clouds and others, all waiters of AWS, and those of a file.
package presets

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Preset is a named set of rules that say what the states of one API mean.
type Preset struct {
	Name    string
	Aliases []string // other names of the same rules
	API     string   // the API, in one line
	Example string   // a command line, quoted for a shell
	File    string   // that it was read from, "" for a built-in one
	Text    string   // the lines that it was read from, without comments
	// Object is the path of the objects that the rules are about, such as .job, .builds[]
	// or .items[] // ., "" for the answer. See [status.Preset].
	Object string
	// Match is the condition of a stanza of a group, NAME/X of NAME: it says which objects it judges.
	Match string
	// Settings say how to wait. The caller applies them.
	Settings []Setting

	stanzas []Preset // of the group, in front of its own rules

	rules []rule   // in the order in which they are asked
	note  string   // more for a reader, "" for nothing
	many  []string // command lines that wait for many, those without --each one by one
	// detail are expressions for the API's own words about a failure. The first
	// whose value is a text is added to the reason of an ERROR, and in a group of NOT_READY.
	detail []string
}

// A Setting says how to wait. Its value is text, not yet parsed.
type Setting struct {
	Key    string   // interval, timeout, max-wait, follow, each, success-threshold, error-threshold, id or print
	Values []string // several of id and print, one of any other
	At     string   // the place of the first value: "mine.txt:3:11"
}

// A rule is a rule of a preset, not yet compiled.
type rule struct {
	Status status.Status
	Expr   string // a condition in the language of package expr
	Why    string // the reason when the rule matches; "" for the expression's own explanation
}

//go:embed presets.txt
var presetText string

// groupText has the group k8s.
//
//go:embed k8s.txt
var groupText string

// All returns all presets but those of AWS's waiters, with those for related APIs side by side.
func All() []Preset { return builtin(presetText + "\n" + groupText) }

// Rules returns the rules of the preset with that name or alias for a kind of probe. The
// error says that there is no such preset, or names the rules that do not fit if none is
// left that could be SUCCESS.
func Rules(name string, kind status.Kind) (status.Rules, error) {
	p, found := Lookup(name)
	if !found {
		return status.Rules{}, fmt.Errorf("there is no preset %s", name)
	}
	preset, _, err := p.Compile(kind, false)
	return status.Rules{Preset: preset}, err
}

// Lookup returns the preset with that name or alias. The name of a waiter of AWS is
// aws:SERVICE/WAITER, such as aws:rds/DBInstanceAvailable.
func Lookup(name string) (Preset, bool) {
	text := presetText
	if strings.HasPrefix(name, awsPrefix) {
		text = waiterText()
	}
	line := regexp.MustCompile(`(?m)^(name|alias): ` + regexp.QuoteMeta(name) + `$`)
	for stanza := range strings.SplitSeq(text, "\n\n") {
		if line.MatchString(stanza) {
			return builtin(stanza)[0], true
		}
	}
	if !line.MatchString(groupText) {
		return Preset{}, false
	}
	group := builtin(groupText)
	return group[slices.IndexFunc(group, func(p Preset) bool { return p.Named(name) })], true
}

func builtin(text string) []Preset {
	presets, err := read("", text, func(string, string) error { return nil }) // which the tests compile
	if err != nil {
		panic(err)
	}
	for i, p := range presets {
		presets[i] = p.With(presets)
	}
	return presets
}

// Group returns the name of the group that p is a stanza of, "" if it is none.
func (p Preset) Group() string {
	if p.Match == "" {
		return ""
	}
	return p.Name[:max(0, strings.LastIndexByte(p.Name, '/'))]
}

// Stanzas returns the stanzas of a group, in the order in which they are asked.
func (p Preset) Stanzas() []Preset { return p.stanzas }

// With returns p as one of some presets. A group has the stanzas of these that are its own, in front of
// those that it has; a stanza has from its group what it lacks: object, id, detail and the gates. Gates are
// asked before all other stanzas.
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

// isGate reports whether a stanza has no rule that ends a wait. A gate matches objects of any kind in a
// state that is not final, such as being deleted.
func (p Preset) isGate() bool {
	return p.Match != "" && !slices.ContainsFunc(p.rules, func(r rule) bool { return r.Status.Ends() })
}

// gatesFor returns the gates of a group that a stanza does not have yet.
func (p Preset) gatesFor(stanza Preset) (gates []Preset) {
	for _, s := range p.stanzas {
		isNamed := func(have Preset) bool { return have.Name == s.Name }
		if s.isGate() && !isNamed(stanza) && !slices.ContainsFunc(stanza.stanzas, isNamed) {
			gates = append(gates, s)
		}
	}
	return gates
}

// inherit returns a stanza with what it has from its group.
func (p Preset) inherit(group Preset) Preset {
	p.Object = cmp.Or(p.Object, group.Object)
	if id := group.setting("id"); id != nil && p.setting("id") == nil {
		p.Settings = append(slices.Clip(p.Settings), *id)
	}
	if !p.isGate() { // a gate says why what the object says of itself does not count
		p.detail = slices.Concat(p.detail, group.detail)
	}
	return p
}

// fields returns where the fields of a text begin and end: a line of a stanza, with those that continue it.
func fields(text string) (all [][2]int) {
	from, isOpen := 0, false
	for line := range strings.Lines(text) {
		to := from + len(strings.TrimSuffix(line, "\n"))
		switch isBlank := line[0] == ' ' || line[0] == '\t'; {
		case isOpen && isBlank:
			all[len(all)-1][1] = to
		case line[0] == '#' || line[0] == '\n':
			isOpen = false
		default:
			all, isOpen = append(all, [2]int{from, to}), true
		}
		from += len(line)
	}
	return all
}

// isKey matches what may be a key, and so be repeated in an error: a file may be no preset, but secret.
var isKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z-]{1,20}$`) })

// isName matches the name of a preset.
var isName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`) })

// isNoText reports whether a character is none of a text.
func isNoText(c rune) bool {
	return unicode.IsControl(c) && c != '\n' && c != '\t' || c == utf8.RuneError
}

// Read reads presets, each a stanza of lines "key: value", with an empty line between stanzas. A
// line that begins with a blank continues the one above, and one that begins with # is a comment. A
// stanza begins with its name, which no other has, and has at least one rule. The other keys are
// those of [Status.RuleName], whose values are conditions, those of [Setting], and the fields of
// [Preset] in lower case: alias, api, example, note, many, object, detail. Of alias, many, detail,
// id, print and the rules there may be several. After a condition, " -- " and words are the reason
// when it is met. A preset has either object or each, and its expressions name no $ENV. An error
// begins with the file, the line and the column, in characters from 1: "mine.txt:3:8: ". It quotes
// no line that does not belong to a preset.
func Read(file, text string) ([]Preset, error) { return read(file, text, compiles) }

func read(file, text string, check func(key, value string) error) (presets []Preset, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if i := strings.IndexFunc(text, isNoText); i >= 0 {
		return nil, fmt.Errorf("%s: a preset is text, without control characters", position(file, text, i))
	}
	for _, at := range fields(text) {
		field := text[at[0]:at[1]]
		joined := strings.ReplaceAll(field, "\n", "")
		key, value, isField := strings.Cut(joined, ":")
		value = strings.TrimSpace(value)
		switch begins := key == "name"; {
		case !isField || !isKey().MatchString(key):
			err = errors.New("a line of a preset is key: value")
		case !begins && len(presets) == 0:
			err = fmt.Errorf("a stanza begins with its name, not with %q", key)
		case begins && slices.ContainsFunc(presets, func(p Preset) bool { return p.Named(value) }):
			err = fmt.Errorf("there are two presets of the name %s", value)
		default:
			if begins {
				presets = append(presets, Preset{File: file})
			}
			start := at[0] + strings.Index(field, value)
			p := &presets[len(presets)-1]
			p.Text += field + "\n"
			err = p.set(key, value, func() string { return position(file, text, start) })
			if err == nil {
				err = check(key, value)
			}
		}
		if problem, ok := errors.AsType[*expr.Error](err); ok {
			at[0] += offsetIn(field, joined, problem)
			err = errors.New(strings.TrimSuffix(problem.Message+": "+problem.Hint, ": "))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", position(file, text, at[0]), err)
		}
	}
	for _, p := range presets {
		if len(p.rules) == 0 {
			return nil, fmt.Errorf("%s: preset %s has no rule, such as until: .state == \"done\"", file, p.Name)
		}
	}
	return presets, nil
}

// ID returns a text that differs between presets that judge differently.
func (p Preset) ID() string {
	id := fmt.Sprintf("%q", []any{p.Name, p.Object, p.Match, p.rules})
	for _, s := range p.stanzas {
		id += s.ID()
	}
	return id
}

// Named reports whether a preset has that name or alias.
func (p Preset) Named(name string) bool { return p.Name == name || slices.Contains(p.Aliases, name) }

// position returns the file, the line and the column of an offset in its text.
func position(file, text string, offset int) string {
	before := text[:offset]
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return fmt.Sprintf("%s:%d:%d", file, strings.Count(before, "\n")+1, column+1)
}

// offsetIn returns where in a field the error in its expression is. A field that is on several
// lines is on one in the expression.
func offsetIn(field, joined string, problem *expr.Error) int {
	offset := strings.Index(joined, problem.Source) + problem.Offset
	for i, c := range field {
		if c == '\n' && i <= offset {
			offset++
		}
	}
	return offset
}

// set sets a field of a preset. at says where the value stands.
func (p *Preset) set(key, value string, at func() string) error {
	texts := map[string]*string{"name": &p.Name, "api": &p.API, "example": &p.Example, "note": &p.note, "object": &p.Object, "match": &p.Match}
	lists := map[string]*[]string{"alias": &p.Aliases, "many": &p.many, "detail": &p.detail}
	ruled := ruled(key)
	text, list := texts[key], lists[key]
	setting, isSeveral := p.setting(key), key == "id" || key == "print"
	isSetting := isSeveral || slices.Contains([]string{"interval", "timeout", "max-wait", "follow", "each", "success-threshold", "error-threshold"}, key)
	switch {
	case text == nil && list == nil && ruled == status.None && !isSetting:
		return fmt.Errorf("there is no key %q", key)
	case value == "":
		return fmt.Errorf("%q has no value", key)
	case text != nil && *text != "", setting != nil && !isSeveral:
		return fmt.Errorf("%q is there twice", key)
	case (key == "name" || key == "alias") && !isName().MatchString(value):
		return fmt.Errorf("%q is letters, digits and . _ / : -, and begins with a letter or digit", key)
	case key == "match" && !strings.Contains(p.Name, "/"):
		return errors.New("match is for a stanza of a group, whose name is NAME/X")
	case key == "each" && p.Object != "", key == "object" && p.setting("each") != nil:
		return errors.New("a preset has either each or object: with each, write paths from the element, such as .job.state, and no object")
	case text != nil:
		*text = value
	case list != nil:
		*list = append(*list, value)
	case setting != nil:
		setting.Values = append(setting.Values, value)
	case isSetting:
		p.Settings = append(p.Settings, Setting{Key: key, Values: []string{value}, At: at()})
	default:
		condition, why, _ := strings.Cut(value, " -- ")
		p.rules = append(p.rules, rule{Status: ruled, Expr: condition, Why: why})
	}
	return nil
}

// ruled returns the status that the rules of a key are for, none of another key.
func ruled(key string) status.Status {
	for _, s := range []status.Status{status.Throttled, status.Error, status.Success, status.NotReady} {
		if s.RuleName() == key {
			return s
		}
	}
	return status.None
}

// compiles checks that the expression of a key compiles.
func compiles(key, value string) (err error) {
	switch s := ruled(key); {
	case s != status.None:
		value, _, _ = strings.Cut(value, " -- ")
		_, err = status.NewRule(s, value)
	case key == "match":
		_, err = status.NewRule(status.NotReady, value) // a condition that reads something, like that of any rule
	case key == "detail", key == "id", key == "print":
		x, problem := expr.CompileValue(value)
		if err = problem; err == nil && key != "print" && x.Reads("header") { // it may hold a secret, and these go to the log
			err = errors.New("$header is not shown")
		}
	case key == "object":
		_, err = expr.CompileObjects(value)
	case key == "each":
		_, err = expr.CompileEach(value)
	}
	return err
}

// setting is the setting with a key, nil if there is none.
func (p *Preset) setting(key string) *Setting {
	for i := range p.Settings {
		if p.Settings[i].Key == key {
			return &p.Settings[i]
		}
	}
	return nil
}

// Compile returns what p says for a kind of probe, with its rules in the same order. Rules that read a
// value that such a probe never has, such as $exit for a URL, are left out and named in unfit, as
// "until: $exit == 0". If no rule is left, or p has rules for SUCCESS and none of these is left, that is an
// error: any good answer would be a SUCCESS. ofObject is true if the object itself is judged, such as an
// element of a list; rules about $json alone are then left out, too, and unfit.
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

// compile returns the stanza that p itself is.
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
		case isOfAnswer && p.File == "": // of the built-in ones that is known
		case offers(kind, rule.Expr) && (ofObject || !rule.Expr.Reads("gone")) && !isOfAnswer:
			stanza.Rules = append(stanza.Rules, rule)
		default:
			unfit = append(unfit, r.Status.RuleName()+": "+r.Expr)
		}
	}
	return stanza, unfit, cmp.Or(err, p.lacks(kind, stanza.Rules, unfit))
}

// values compiles expressions for values, but for those that are known.
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

// lacks refuses a preset of which too little is left for a kind of probe.
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

// offers reports whether a kind of probe has all that an expression reads.
func offers(k status.Kind, x *expr.Expr) bool {
	return (k == status.KindHTTP || !x.Reads("status", "header")) &&
		(k == status.KindCommand || !x.Reads("exit", "stdout", "stderr")) &&
		(k != status.KindTCP || !x.Reads(".", "isjson", "body", "error"))
}
