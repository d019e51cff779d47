package status

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

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
	// Object is the path of what Rules and Detail are about, such as .job or .builds[], "" for
	// the answer. With [] they are about each element of a list: all have to be done, and one
	// that has failed is enough. A rule that names $json is about the answer.
	Object string
	// Rules are in the order of [Ruled].
	Rules []PresetRule
	// Detail are expressions for the API's own words about a failure. The first
	// whose value is a text is added to the reason of an ERROR.
	Detail []string
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
func Presets() []Preset {
	presets, err := parsePresets(presetText)
	if err != nil {
		panic("presets.txt: " + err.Error())
	}
	return presets
}

// LookupPreset returns the preset with that name or alias.
func LookupPreset(name string) (Preset, bool) {
	for _, p := range Presets() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p, true
		}
	}
	return Preset{}, false
}

// parsePresets reads presets, each a stanza of lines "key: value", with an empty line between
// stanzas. A line that begins with a blank continues the one above, and one that begins with #
// is a comment. A stanza begins with its name. The other keys are those of [Status.RuleName], whose
// values are conditions, and the fields of [Preset] in lower case: alias, api, example, note,
// many, object, detail. Of alias, many, detail and the rules there may be several. After a
// condition, " -- " and words are the reason when it is met. An error names the line.
func parsePresets(text string) (presets []Preset, err error) {
	var field string
	first, n := 0, 0 // the lines of the field, and of the one after
	add := func() {
		if field != "" && err == nil {
			if presets, err = addField(presets, field); err != nil {
				err = fmt.Errorf("line %d: %w", first, err)
			}
		}
		field, first = "", n
	}
	for line := range strings.Lines(text) {
		n++
		switch line = strings.TrimRight(line, " \r\n"); {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " ") && field != "":
			field += line
		default:
			add()
			field = line
		}
	}
	add()
	return presets, err
}

// addField adds a line of a stanza.
func addField(presets []Preset, field string) ([]Preset, error) {
	key, value, _ := strings.Cut(field, ":")
	value = strings.TrimSpace(value)
	if key == "name" {
		return append(presets, Preset{Name: value}), nil
	} else if len(presets) == 0 {
		return nil, fmt.Errorf("a stanza begins with its name, not with %q", field)
	}
	p := &presets[len(presets)-1]
	texts := map[string]*string{"api": &p.API, "example": &p.Example, "note": &p.Note, "object": &p.Object}
	lists := map[string]*[]string{"alias": &p.Aliases, "many": &p.Many, "detail": &p.Detail}
	switch {
	case value == "":
		return nil, fmt.Errorf("%q has no value", key)
	case texts[key] != nil && *texts[key] != "":
		return nil, fmt.Errorf("%q is there twice", key)
	case texts[key] != nil:
		*texts[key] = value
	case lists[key] != nil:
		*lists[key] = append(*lists[key], value)
	default:
		at := slices.IndexFunc(Ruled(), func(s Status) bool { return s.RuleName() == key })
		if at < 0 {
			return nil, fmt.Errorf("there is no key %q", key)
		}
		condition, why, _ := strings.Cut(value, " -- ")
		p.Rules = append(p.Rules, PresetRule{Ruled()[at], condition, why})
	}
	return presets, nil
}

// Compile returns the rules of p for a kind of probe, in the same order. It leaves out
// those that read what such a probe never has, such as $exit for a URL. ofObject is true if what
// is judged is the object itself, as an element of a list is; rules about the answer are then left
// out, too.
func (p Preset) Compile(kind Kind, ofObject bool) ([]Rule, error) {
	if ofObject {
		p.Object = ""
	}
	var detail []*expr.Expr
	for _, source := range p.Detail {
		x, err := expr.CompileValue(p.within(None, source))
		if err != nil {
			return nil, fmt.Errorf("compiling preset %s, detail: %w", p.Name, err)
		}
		detail = append(detail, x)
	}
	var rules []Rule
	for _, r := range p.Rules {
		x, err := expr.Compile(r.Expr)
		if err == nil && x.Uses().Any(expr.UsesJSON) {
			x, err = expr.Compile(p.within(r.Status, r.Expr))
		}
		if err != nil {
			return nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, r.Status.RuleName(), err)
		}
		if !kind.offers(x.Uses()) || ofObject && x.Uses().Any(expr.UsesWhole) { // of the others of a list, too
			continue
		}
		rule := Rule{Status: r.Status, Expr: x, Origin: "preset " + p.Name, Preset: p.Name, Why: r.Why}
		if r.Status == Error {
			rule.Detail = detail
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// within returns an expression about the object as one about the answer.
func (p Preset) within(s Status, source string) string {
	program, isJQ := strings.CutPrefix(source, "jq:")
	switch isList := strings.Contains(p.Object, "[]"); {
	case p.Object == "" || strings.Contains(source, "$json"):
		return source
	case isJQ:
		return "jq: " + p.within(s, program)
	case s == Success && isList: // and nothing that was asked for is only named as not found
		return "any(" + p.Object + "; true) and all(" + p.Object + "; " + source + ")" +
			" and ($json.failures | length) == 0 and ($json.buildsNotFound | length) == 0"
	case s != None && isList:
		return "any(" + p.Object + "; " + source + ")"
	}
	return strings.ReplaceAll(p.Object, "[]", "[0]") + " | (" + source + ")"
}

// offers reports whether a kind of probe has all that an expression reads.
func (k Kind) offers(u expr.Uses) bool {
	var lacks expr.Uses
	if k != KindHTTP {
		lacks |= expr.UsesStatus | expr.UsesHeader
	}
	if k != KindCommand {
		lacks |= expr.UsesExit | expr.UsesStdout | expr.UsesStderr
	}
	if k == KindTCP {
		lacks |= expr.UsesJSON | expr.UsesIsJSON | expr.UsesBody | expr.UsesError
	}
	return !u.Any(lacks)
}

// azureRules are the rules for the status document behind Azure-AsyncOperation
// and Operation-Location, without the rule that a resource with no state is at rest.
var azureRules = sync.OnceValue(func() []Rule {
	p, _ := LookupPreset("azure-lro")
	rules, err := p.Compile(KindHTTP, false)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return r.Status == Success && r.Why != "" })
})
