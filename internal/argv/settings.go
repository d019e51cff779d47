package argv

import (
	"slices"
	"strconv"
	"strings"
)

// A Setting is a value that was given to a flag, and was read.
type Setting struct {
	Flag   *Flag
	Text   string
	Origin string // how an error names the setting: --FLAG, POLL_FLAG, or FILE:LINE: KEY of a preset or an entry
	Rank   Rank

	apply func(any) // nil if the flag sets nothing
}

// isOn reports whether the flag is a switch that is turned on, or has a value.
func (s Setting) isOn() bool { return s.Rank > Unset && !(s.Flag.IsSwitch() && s.Text == "false") }

// Settings are the values of flags, in the order in which they were given. A copy is another list: to
// add a setting, or to drop one, does not change what was copied.
type Settings []Setting

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

// last returns the last setting of a flag; its rank is Unset if there is none.
func (l Settings) last(name string) Setting {
	for _, s := range slices.Backward(l) {
		if s.Flag.Name == name {
			return s
		}
	}
	return Setting{Origin: "--" + name}
}

// Texts returns the values of a flag.
func (l Settings) Texts(name string) (texts []string) {
	for _, s := range l {
		if s.Flag.Name == name {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Rank returns where the setting of a flag comes from.
func (l Settings) Rank(name string) Rank { return l.last(name).Rank }

// Has reports whether a flag is set.
func (l Settings) Has(name string) bool { return l.Rank(name) > Unset }

// IsOn reports whether a flag is set, and is no switch that is turned off.
func (l Settings) IsOn(name string) bool { return l.last(name).isOn() }

// Origin returns the origin of the last setting of a flag, and --FLAG without a setting.
func (l Settings) Origin(name string) string { return l.last(name).Origin }

// With returns the settings with another value of a flag. Several values of one rank add up where the
// flag may be repeated. A value that cannot be read is kept, too, and is an error.
func (l Settings) With(f *Flag, text, origin string, rank Rank) (Settings, error) {
	if on, err := strconv.ParseBool(text); f.IsSwitch() {
		if err != nil {
			return l, Usagef("%s is a switch: %q is neither true nor false", origin, text)
		}
		text = strconv.FormatBool(on)
	}
	switch {
	case text != "" || f.MayBeEmpty:
	case rank == Variable:
		return l, Usagef("%s has an empty line", origin).Hint("each line of it is a value of --%s", f.Name)
	default:
		return l, Usagef("%s is given an empty value", origin).
			Hint("leave the flag out, or set the variable that its value is taken from")
	}
	if l.Rank(f.Name) != rank || !f.Many {
		l = l.Without(f.Name)
	}
	apply, err := f.read(text)
	if err != nil {
		err = Usagef("%s: %w", origin, err)
	}
	return append(slices.Clip(l), Setting{f, text, origin, rank, apply}), err
}

// Without returns the settings except those of a flag.
func (l Settings) Without(name string) Settings {
	if !l.Has(name) {
		return l
	}
	return slices.DeleteFunc(slices.Clone(l), func(s Setting) bool { return s.Flag.Name == name })
}

// Apply sets the fields of to, in the order of the settings. It has the type that the table fills.
func (l Settings) Apply(to any) {
	for _, s := range l {
		if s.apply != nil {
			s.apply(to)
		}
	}
}

// A Check is what settings are resolved for.
type Check struct {
	Kinds   Kinds   // of the targets
	Word    string  // for the kinds, in the rows of hints
	Least   Rank    // only settings of at least this rank have to apply to the kinds
	Limits  []Limit // of the wait
	Entries Flags   // the flags of the entries of a targets file, which may have what a setting needs; nil without such a file
}

// A Limit is a kind of wait that cannot have some flags.
type Limit struct {
	Holds bool   // for this wait
	Kind  string // for [NotApplicable]
	Flags string // names, with blanks between them
}

// Resolved returns the settings without those that give way: the lower of two ranks that contradict each other, and a
// variable that does not apply to the wait, or needs another flag. A contradiction within a rank is an error, and so is
// another setting that does not apply, or lacks the flag that it needs.
func (l Settings) Resolved(c Check) (_ Settings, err error) {
	for _, s := range l {
		for not := range strings.FieldsSeq(s.Flag.Not) {
			name, word, _ := strings.Cut(not, "=")
			name, isNegated := strings.CutSuffix(name, "!")
			switch one, two := l.last(s.Flag.Name), l.last(name); {
			case !one.isOn() || !two.isOn() || word != "" && (two.Text == word) == isNegated:
			case one.Rank < two.Rank:
				l = l.Without(s.Flag.Name)
			case two.Rank < one.Rank:
				l = l.Without(name)
			default:
				return l, Usagef("%s and %s contradict each other: give one of them", one.Origin, two.Origin[strings.LastIndex(two.Origin, " ")+1:])
			}
		}
	}
	for _, s := range l {
		if s.Rank >= max(c.Least, Preset) && s.isOn() && !s.Flag.Fits(c.Kinds) {
			return l, NotApplicable(s.Flag.Name, s.Origin, c.Word)
		}
	}
	if l, err = l.within(c.Limits); err != nil {
		return l, err
	}
	for _, s := range l {
		needs := s.Flag.Needs
		inEntries := c.Entries.Named(needs)
		switch {
		case needs == "" || s.Rank < max(c.Least, Preset) || !s.isOn() || l.IsOn(needs) || inEntries != nil && !inEntries.WholeRun:
		case s.Rank == Variable:
			l = l.Without(s.Flag.Name)
		default:
			return l, Usagef("%s needs --%s", s.Origin, needs).Advise("needs " + s.Flag.Name)
		}
	}
	return l, nil
}

// within returns the settings without the variables that a limit excludes. Another setting that a limit excludes is an
// error.
func (l Settings) within(limits []Limit) (Settings, error) {
	for _, limit := range limits {
		for name := range strings.FieldsSeq(limit.Flags) {
			switch s := l.last(name); {
			case !limit.Holds || !s.isOn():
			case s.Rank == Variable:
				l = l.Without(name)
			default:
				return l, NotApplicable(name, s.Origin, limit.Kind)
			}
		}
	}
	return l, nil
}
