package status

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr"
)

// A Preset is a named set of rules that say what the states of one API mean.
type Preset struct {
	Name    string
	Aliases []string // other names of the same rules
	API     string   // the API, in one line
	Example string   // a command line, quoted for a shell
	Note    string   // what else a reader should know; "" for nothing
	Many    []string // command lines that wait for many, those without --each one by one
	File    string   // that it was read from, "" for a built-in one
	Text    string   // the lines that it was read from, without comments
	// Object is the path of what Rules and Detail are about, such as .job or .builds[], "" for
	// the answer. With [] they are about each element of a list: all have to be done, and one
	// that has failed is enough. A rule that names $json is about the answer. An element of a list
	// that is judged by itself is the object, and $json the answer that it is in.
	Object string
	// Rules are in the order of [Ruled].
	Rules []PresetRule
	// Detail are expressions for the API's own words about a failure. The first
	// whose value is a text is added to the reason of an ERROR.
	Detail []string
	// Settings say how to wait, for who runs the wait.
	Settings []PresetSetting
}

// A PresetSetting says how to wait for what a preset is about. Its value is not yet read.
type PresetSetting struct {
	Key    string   // interval, timeout, max-wait, follow, each, id or print
	Values []string // several of id and print, one of any other
	At     string   // where the first value stands: "mine.txt:3:11"
}

// A PresetRule is a rule of a preset, not yet compiled.
type PresetRule struct {
	Status Status
	Expr   string // a condition in the language of package expr
	Why    string // the reason when the rule matches; "" for the expression's own explanation
}

//go:embed presets.txt
var presetText string

// Presets returns all presets, with those for related APIs side by side.
func Presets() []Preset { return builtin(presetText) }

// LookupPreset returns the preset with that name or alias, which is "aws:SERVICE/WAITER" for a
// waiter of AWS, such as aws:rds/DBInstanceAvailable.
func LookupPreset(name string) (Preset, bool) {
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
	return Preset{}, false
}

func builtin(text string) []Preset {
	presets, err := ReadPresets("", text)
	if err != nil {
		panic(err)
	}
	return presets
}

// presetField matches a line of a stanza, with the lines that continue it.
var presetField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[^#\n].*(?:\n[ \t].*)*`) })

// isKey matches what may be a key, and so be repeated in an error: a file may be no preset, but secret.
var isKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z-]{1,20}$`) })

// isName matches the name of a preset.
var isName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`) })

// isNoText reports whether a character is none of a text.
func isNoText(c rune) bool {
	return unicode.IsControl(c) && c != '\n' && c != '\t' || c == utf8.RuneError
}

// ReadPresets reads presets, each a stanza of lines "key: value", with an empty line between
// stanzas. A line that begins with a blank continues the one above, and one that begins with #
// is a comment. A stanza begins with its name, which no other has, and has at least one rule. The
// other keys are those of [Status.RuleName], whose values are conditions, those of
// [PresetSetting], and the fields of [Preset] in lower case: alias, api, example, note, many,
// object, detail. Of alias, many, detail, id, print and the rules there may be several. After a
// condition, " -- " and words are the reason when it is met. A preset has either object or
// each, and its expressions name no $ENV. An error begins with the file, the line and the column, in
// characters from 1: "mine.txt:3:8: ". Of a line that is none of a preset it has no text.
func ReadPresets(file, text string) (presets []Preset, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if i := strings.IndexFunc(text, isNoText); i >= 0 {
		return nil, fmt.Errorf("%s: a preset is text, without control characters", position(file, text, i))
	}
	for _, at := range presetField().FindAllStringIndex(text, -1) {
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
			err = p.set(key, value, position(file, text, start))
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
		if len(p.Rules) == 0 {
			return nil, fmt.Errorf("%s: preset %s has no rule, such as until: .state == \"done\"", file, p.Name)
		}
	}
	return presets, nil
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

// set sets a field of a preset, and checks that an expression compiles. at is where the value stands.
func (p *Preset) set(key, value, at string) (err error) {
	texts := map[string]*string{"name": &p.Name, "api": &p.API, "example": &p.Example, "note": &p.Note, "object": &p.Object}
	lists := map[string]*[]string{"alias": &p.Aliases, "many": &p.Many, "detail": &p.Detail}
	ruled := slices.IndexFunc(Ruled(), func(s Status) bool { return s.RuleName() == key })
	text, list := texts[key], lists[key]
	setting, isSeveral := p.setting(key), key == "id" || key == "print"
	isSetting := isSeveral || slices.Contains([]string{"interval", "timeout", "max-wait", "follow", "each"}, key)
	switch {
	case text == nil && list == nil && ruled < 0 && !isSetting:
		return fmt.Errorf("there is no key %q", key)
	case value == "":
		return fmt.Errorf("%q has no value", key)
	case text != nil && *text != "", setting != nil && !isSeveral:
		return fmt.Errorf("%q is there twice", key)
	case (key == "name" || key == "alias") && !isName().MatchString(value):
		return fmt.Errorf("%q is letters, digits and . _ / : -, and begins with a letter or digit", key)
	case key == "each" && p.Object != "", key == "object" && p.setting("each") != nil:
		return errors.New("a preset has either each or object: with each, write paths from the element, such as .job.state, and no object")
	case text != nil:
		*text = value
	case list != nil:
		*list = append(*list, value)
	case setting != nil:
		setting.Values = append(setting.Values, value)
	case isSetting:
		p.Settings = append(p.Settings, PresetSetting{Key: key, Values: []string{value}, At: at})
	default:
		rule := PresetRule{Status: Ruled()[ruled]}
		rule.Expr, rule.Why, _ = strings.Cut(value, " -- ")
		p.Rules = append(p.Rules, rule)
		_, err = NewRule(rule.Status, rule.Expr)
	}
	switch key {
	case "detail", "id", "print":
		_, err = expr.CompileValue(value)
	case "object", "each":
		_, err = expr.CompileEach(value)
	}
	return err
}

// setting is the setting with a key, nil if there is none.
func (p *Preset) setting(key string) *PresetSetting {
	for i := range p.Settings {
		if p.Settings[i].Key == key {
			return &p.Settings[i]
		}
	}
	return nil
}

// Compile returns the rules of p for a kind of probe, in the same order. Those that read what such a
// probe never has, such as $exit for a URL, are left out; unfit are these, as "until: $exit == 0". That none for SUCCESS is
// left where p has some, or no rule at all, is an error: any good answer would be a SUCCESS. ofObject is
// true if what is judged is the object itself, as an element of a list is; $json is still the answer.
func (p Preset) Compile(kind Kind, ofObject bool) (rules []Rule, unfit []string, err error) {
	if ofObject {
		p.Object = ""
	}
	detail := make([]*expr.Expr, len(p.Detail))
	for i, source := range p.Detail {
		if detail[i], err = expr.CompileValue(p.within(None, source)); err != nil {
			return nil, nil, fmt.Errorf("compiling preset %s, detail: %w", p.Name, err)
		}
	}
	for _, r := range p.Rules {
		rule, err := NewRule(r.Status, r.Expr)
		if err == nil && rule.Expr.Reads(".") {
			rule, err = NewRule(r.Status, p.within(r.Status, r.Expr))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, r.Status.RuleName(), err)
		}
		rule.Origin, rule.Preset, rule.Why = "preset "+p.Name, p.Name, r.Why
		if r.Status == Error {
			rule.Detail = detail
		}
		if kind.offers(rule.Expr) && (ofObject || !rule.Expr.Reads("gone")) {
			rules = append(rules, rule)
		} else {
			unfit = append(unfit, r.Status.RuleName()+": "+r.Expr)
		}
	}
	return rules, unfit, p.lacks(kind, rules, unfit)
}

// lacks refuses a preset of which too little is left for a kind of probe.
func (p Preset) lacks(kind Kind, rules []Rule, unfit []string) error {
	isUntil := func(r Rule) bool { return r.Status == Success }
	untils := slices.DeleteFunc(slices.Clone(unfit), func(text string) bool { return !strings.HasPrefix(text, Success.RuleName()) })
	switch {
	case len(untils) > 0 && !slices.ContainsFunc(rules, isUntil):
		return fmt.Errorf("preset %s: none of its until fits %s: %s", p.Name, kind, strings.Join(untils, "; "))
	case len(unfit) > 0 && len(rules) == 0:
		return fmt.Errorf("preset %s: none of its rules fits %s: %s", p.Name, kind, strings.Join(unfit, "; "))
	}
	return nil
}

// within returns an expression about the object as one about the answer.
func (p Preset) within(s Status, source string) string {
	program, isJQ := strings.CutPrefix(source, "jq:")
	switch isList := strings.Contains(p.Object, "[]"); {
	case p.Object == "" || namesAnswer(source):
		return source
	case isJQ && isList && s != None: // only true and false decide
		return "jq: " + p.within(s, "["+program+`] | if . == [true] or . == [false] then .[0] else error("neither true nor false") end`)
	case isJQ:
		return "jq: " + p.within(s, program)
	case s == Success && isList:
		return "any(" + p.Object + "; true) and all(" + p.Object + "; " + source + ")"
	case s != None && isList:
		return "any(" + p.Object + "; " + source + ")"
	}
	return strings.ReplaceAll(p.Object, "[]", "[0]") + " | (" + source + ")"
}

// namesAnswer reports whether an expression is about the answer, whatever it is an element of.
func namesAnswer(source string) bool {
	x, err := expr.CompileValue(source)
	return err == nil && x.Reads("json")
}

// String names what is probed: "a URL".
func (k Kind) String() string {
	return map[Kind]string{KindHTTP: "a URL", KindCommand: "a command", KindTCP: "a TCP address", KindCustom: "this probe"}[k]
}

// offers reports whether a kind of probe has all that an expression reads.
func (k Kind) offers(x *expr.Expr) bool {
	return (k == KindHTTP || !x.Reads("status", "header")) &&
		(k == KindCommand || !x.Reads("exit", "stdout", "stderr")) &&
		(k != KindTCP || !x.Reads(".", "isjson", "body", "error"))
}

// azureRules are the rules for the status document behind Azure-AsyncOperation
// and Operation-Location, without the rule that a resource with no state is at rest.
var azureRules = sync.OnceValue(func() []Rule {
	p, _ := LookupPreset("azure-lro")
	rules, _, err := p.Compile(KindHTTP, false)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return r.Status == Success && r.Why != "" })
})
