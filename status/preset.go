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
	// Many are command lines that wait for many, those without --each one by one: NoList then
	// says why.
	Many   []string
	NoList string
	// Rules are in the order of [RuleKinds].
	Rules []PresetRule
	// Detail are expressions for the API's own words about a failure. The first
	// whose value is a text is added to the reason of an ERROR.
	Detail []string
	// Envelope is the path of one object in the answer for which Rules and Detail are made,
	// such as .jobs[] or .pipelineExecution: an element is put there before they judge it. ""
	// means that they are for the object itself.
	Envelope string
}

// A PresetRule is a rule of a preset, not yet compiled.
type PresetRule struct {
	Status Status
	Expr   string // a condition in the language of package expr
	Why    string // the reason when the rule matches; "" for the expression's own explanation
}

// presetText holds a stanza of "field: value" lines for each preset, with an empty line
// between stanzas. A line that begins with a blank continues the one above. The text
// after " -- " in a rule is its Why.
//
//go:embed presets.txt
var presetText string

// Presets returns all presets, with those for related APIs side by side.
func Presets() []Preset {
	var presets []Preset
	for stanza := range strings.SplitSeq(presetText, "\n\n") {
		presets = append(presets, parsePreset(stanza))
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

// parsePreset panics if it finds an unknown field, which no input can cause.
func parsePreset(stanza string) Preset {
	var p Preset
	fields := strings.ReplaceAll(strings.TrimSuffix(stanza, "\n"), "\n ", " ")
	for field := range strings.SplitSeq(fields, "\n") {
		switch name, value, _ := strings.Cut(field, ": "); name {
		case "name":
			p.Name = value
		case "alias":
			p.Aliases = append(p.Aliases, value)
		case "api":
			p.API = value
		case "example":
			p.Example = value
		case "many":
			p.Many = append(p.Many, value)
		case "no-list":
			p.NoList = value
		case "note":
			p.Note = value
		case "envelope":
			p.Envelope = value
		case "detail":
			p.Detail = append(p.Detail, value)
		default:
			condition, why, _ := strings.Cut(value, " -- ")
			p.Rules = append(p.Rules, PresetRule{statusOfRule(name), condition, why})
		}
	}
	return p
}

// statusOfRule is the inverse of [Status.RuleName].
func statusOfRule(name string) Status {
	for _, kind := range RuleKinds() {
		if kind.Name == name {
			return kind.Status
		}
	}
	panic(fmt.Sprintf("unknown field %q in presets.txt", name))
}

// Compile returns the rules of p for a kind of probe, in the same order. It leaves out
// those that read what such a probe never has, such as $exit for a URL.
func (p Preset) Compile(kind Kind) ([]Rule, error) {
	detail, err := compileValues(p.Detail)
	if err != nil {
		return nil, fmt.Errorf("compiling preset %s, detail: %w", p.Name, err)
	}
	around := parseEnvelope(p.Envelope)
	var rules []Rule
	for _, r := range p.Rules {
		x, err := expr.Compile(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("compiling preset %s, %s: %w", p.Name, r.Status.RuleName(), err)
		}
		if !kind.offers(x.Uses()) {
			continue
		}
		rule := Rule{Status: r.Status, Expr: x, Origin: "preset " + p.Name, Preset: p.Name, Why: r.Why, envelope: around}
		if r.Status == Error {
			rule.Detail = detail
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// An envelope is the JSON before and after an element that is put into one.
type envelope struct{ before, after string }

// parseEnvelope reads a path of names, each with or without [].
func parseEnvelope(path string) (e envelope) {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' }) {
		name, isList := strings.CutSuffix(step, "[]")
		e.before, e.after = e.before+`{"`+name+`":`, "}"+e.after
		if isList {
			e.before, e.after = e.before+"[", "]"+e.after
		}
	}
	return e
}

// around returns the document of an element in the envelope.
func (e envelope) around(element []byte) *expr.Doc {
	return expr.ElementDoc(slices.Concat([]byte(e.before), element, []byte(e.after)))
}

func compileValues(sources []string) ([]*expr.Expr, error) {
	var values []*expr.Expr
	for _, source := range sources {
		x, err := expr.CompileValue(source)
		if err != nil {
			return nil, err
		}
		values = append(values, x)
	}
	return values, nil
}

// offers reports whether a kind of probe has all that an expression reads.
func (k Kind) offers(u expr.Uses) bool {
	ofHTTP, ofCommand := u.Status || u.Header, u.Exit || u.Stdout || u.Stderr
	switch k {
	case KindHTTP:
		return !ofCommand
	case KindCommand:
		return !ofHTTP
	case KindCustom:
		return !ofHTTP && !ofCommand
	}
	return !u.Answer() && !u.JSON && !u.IsJSON
}

// azureRules are the rules for the status document behind Azure-AsyncOperation
// and Operation-Location. That a resource without a state is at rest is none of them.
var azureRules = sync.OnceValue(func() []Rule {
	p, _ := LookupPreset("azure-lro")
	rules, err := p.Compile(KindHTTP)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(rules, func(r Rule) bool { return r.Status == Success && r.Why != "" })
})
