package argv

import (
	"slices"
	"strconv"
	"strings"
)

// Given is what the flags of a table are set to. A copy is another one: to set a flag, or to drop
// one, does not change what was copied.
type Given struct {
	Flags    Flags
	settings []setting // in the order in which they were given
}

// A setting is one value of a flag.
type setting struct {
	name, text string
	origin     string // how an error names the flag: by its variable if that was used
	rank       Rank
}

// A Rank says where a setting comes from. A higher one wins over a lower one that it
// contradicts; two of one rank must not contradict each other.
type Rank uint8

// The ranks of settings.
const (
	Unset    Rank = iota
	Preset        // of a preset
	Variable      // of the environment
	Typed         // on the command line
	Entry         // of a targets file
)

// of returns the last value of a flag, and all texts.
func (g Given) of(f *Flag) (last setting, texts []string) {
	last.origin = "--" + f.Name
	for _, s := range g.settings {
		if s.name == f.Name {
			last, texts = s, append(texts, s.text)
		}
	}
	return last, texts
}

// Texts returns the values of a flag.
func (g Given) Texts(f *Flag) []string {
	_, texts := g.of(f)
	return texts
}

// at returns the flag of a name that the program knows: another is a mistake in it.
func (g Given) at(name string) *Flag {
	f := g.Flags.Named(name)
	if f == nil {
		panic("there is no flag " + name)
	}
	return f
}

// Rank returns where the setting of a flag comes from.
func (g Given) Rank(name string) Rank {
	last, _ := g.of(g.at(name))
	return last.rank
}

// Has reports whether a flag is set.
func (g Given) Has(name string) bool { return g.Rank(name) > Unset }

// IsOn reports whether a flag is set, and is no switch that is turned off.
func (g Given) IsOn(name string) bool { return g.isOn(g.at(name)) }

func (g Given) isOn(f *Flag) bool {
	last, _ := g.of(f)
	return last.rank > Unset && !(f.IsSwitch() && last.text == "false")
}

// Origin returns what an error calls the flag: its variable, if that set it.
func (g Given) Origin(name string) string {
	last, _ := g.of(g.at(name))
	return last.origin
}

// Add sets a flag. Several values of one rank add up where the flag may be repeated. A value that
// cannot be read is kept, too, and is an error.
func (g *Given) Add(f *Flag, text, origin string, rank Rank) error {
	if on, err := strconv.ParseBool(text); f.IsSwitch() {
		if err != nil {
			return Usagef("%s is a switch: %q is neither true nor false", origin, text)
		}
		text = strconv.FormatBool(on)
	}
	if text == "" && !f.MayBeEmpty {
		return Usagef("%s is given an empty value", origin).
			Hint("leave the flag out, or set the variable that its value is taken from")
	}
	if last, _ := g.of(f); last.rank != rank || !f.Many {
		*g = g.Without(f)
	}
	g.settings = append(slices.Clip(g.settings), setting{f.Name, text, origin, rank})
	if err := f.read(text, false); err != nil {
		return Usagef("%s: %w", origin, err)
	}
	return nil
}

// Without returns what is given but for a flag.
func (g Given) Without(f *Flag) Given {
	isOf := func(s setting) bool { return s.name == f.Name }
	if slices.ContainsFunc(g.settings, isOf) {
		g.settings = slices.DeleteFunc(slices.Clone(g.settings), isOf)
	}
	return g
}

// Fill fills the variables of the table.
func (g Given) Fill() error {
	for _, s := range g.settings {
		if f := g.Flags.Named(s.name); f != nil {
			if err := f.read(s.text, true); err != nil {
				return Usagef("%s: %w", s.origin, err)
			}
		}
	}
	return nil
}

// A Check says what [Given.Validate] refuses.
type Check struct {
	Kinds   Kinds  // of the targets
	Word    string // for the kinds, in the rows of hints
	Least   Rank   // only what has at least this rank must fit them
	Entries bool   // the entries of a targets file may have what a flag needs
}

// Validate refuses each flag of at least some rank that no target can use, that needs another flag,
// or that contradicts one of its rank. It returns what is given without what gives way: the lower
// of two ranks that contradict each other, and a variable that needs another flag, which is for
// other runs.
func (g Given) Validate(c Check) (Given, error) {
	g, err := g.resolved()
	if err != nil {
		return g, err
	}
	for i := range g.Flags {
		f := &g.Flags[i]
		switch last, _ := g.of(f); {
		case last.rank < max(c.Least, Preset) || !g.isOn(f):
		case !f.Fits(c.Kinds):
			return g, NotApplicable(f.Name, last.origin, c.Word)
		case f.Needs == "" || g.IsOn(f.Needs) || c.Entries && !g.at(f.Needs).WholeRun:
		case last.rank == Variable:
			g = g.Without(f)
		default:
			return g, Usagef("%s needs --%s", last.origin, f.Needs).Advise("needs " + f.Name)
		}
	}
	return g, nil
}

// resolved refuses two flags of one rank that contradict each other, and drops the one of the
// lower rank.
func (g Given) resolved() (Given, error) {
	for i := range g.Flags {
		f := &g.Flags[i]
		for not := range strings.FieldsSeq(f.Not) {
			name, word, _ := strings.Cut(not, "=")
			name, isFit := strings.CutSuffix(name, "!")
			if !g.isOn(f) || !g.IsOn(name) {
				continue
			}
			other := g.at(name)
			one, _ := g.of(f)
			two, _ := g.of(other)
			switch {
			case word != "" && (two.text == word) == isFit:
			case one.rank < two.rank:
				g = g.Without(f)
			case two.rank < one.rank:
				g = g.Without(other)
			default:
				return g, Usagef("%s and %s contradict each other: give one of them", one.origin, two.origin)
			}
		}
	}
	return g, nil
}
