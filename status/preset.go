package status

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/textproto"
	"slices"
	"strings"
)

// A Preset is a named set of rules that say what the states of one API mean.
type Preset struct {
	Name    string
	Aliases []string // other names of the same rules
	API     string   // which API it is for, in one line
	Example string   // a command line, as a shell takes it
	Note    string   // what a reader should know besides; "" for nothing
	// Rules are in the order in which they are asked: those for THROTTLED, then
	// ERROR, SUCCESS, NOT_READY.
	Rules []PresetRule
	// Detail are expressions for the API's own words about a failure. The first
	// that has a value is added to the reason of an ERROR.
	Detail []string
}

// A PresetRule is a rule of a preset that has not been compiled.
type PresetRule struct {
	Status Status
	Expr   string // a condition in the language of package expr
	Why    string // said when the rule matches; "" for the expression's own explanation
}

// Presets returns all presets, those for related APIs side by side.
func Presets() []Preset { return slices.Collect(allPresets()) }

// LookupPreset returns the preset of that name or alias.
func LookupPreset(name string) (Preset, bool) {
	for p := range allPresets() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p, true
		}
	}
	return Preset{}, false
}

// The data: stanzas of `field: value` lines, a blank line between them. A line
// that begins with a blank continues the one above. Fields may be repeated. What
// follows " -- " in a rule is its Why.
//
//go:embed presets/*.txt
var presetFiles embed.FS

// allPresets yields the embedded presets as it reads them. It panics if the data
// is malformed, which no input can bring about.
func allPresets() iter.Seq[Preset] {
	return func(yield func(Preset) bool) {
		files, err := presetFiles.ReadDir("presets")
		if err != nil {
			panic(fmt.Errorf("reading the presets: %w", err))
		}
		for _, file := range files {
			text, err := presetFiles.Open("presets/" + file.Name())
			if err != nil {
				panic(fmt.Errorf("reading the presets: %w", err))
			}
			for p, err := range readPresets(text) {
				if err != nil {
					panic(fmt.Errorf("reading the presets in %s: %w", file.Name(), err))
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// readPresets yields the presets of one file. An error is the last it yields.
func readPresets(text io.Reader) iter.Seq2[Preset, error] {
	return func(yield func(Preset, error) bool) {
		stanzas := textproto.NewReader(bufio.NewReader(text))
		for {
			fields, err := stanzas.ReadMIMEHeader()
			end := errors.Is(err, io.EOF)
			if err != nil && !end {
				yield(Preset{}, err)
				return
			}
			if len(fields) > 0 {
				p, err := newPreset(fields)
				if !yield(p, err) || err != nil {
					return
				}
			}
			if end {
				return
			}
		}
	}
}

// newPreset takes all fields out of a stanza.
func newPreset(fields textproto.MIMEHeader) (Preset, error) {
	take := func(name string) []string {
		name = textproto.CanonicalMIMEHeaderKey(name)
		values := fields[name]
		delete(fields, name)
		return values
	}
	one := func(name string) string { return strings.Join(take(name), " ") }
	p := Preset{
		Name:    one("name"),
		Aliases: take("alias"),
		API:     one("api"),
		Example: one("example"),
		Note:    one("note"),
		Detail:  take("detail"),
	}
	for _, f := range RuleKinds() {
		for _, rule := range take(f.Name) {
			condition, why, _ := strings.Cut(rule, " -- ")
			p.Rules = append(p.Rules, PresetRule{Status: f.Status, Expr: condition, Why: why})
		}
	}
	for name := range fields {
		return p, fmt.Errorf("preset %q: unknown field %q", p.Name, name)
	}
	return p, nil
}
