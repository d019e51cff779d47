package argv

import (
	"slices"
	"strconv"
	"strings"
)

// A Setting is a value of a flag that was parsed.
type Setting struct {
	Flag   *Flag
	Text   string
	Origin string // the name of the setting in errors: --FLAG, POLL_FLAG, or FILE:LINE: KEY of a preset or an entry
	Rank   Rank

	apply func(any) // nil if the flag sets nothing
}

// isOn reports whether the flag is set, and is not a switch that is turned off.
func (s Setting) isOn() bool { return s.Rank > Unset && !(s.Flag.IsSwitch() && s.Text == "false") }

// Settings are the values of flags, in the order of the command line and other sources. Adding or removing a
// setting returns another list, and does not change the original.
type Settings []Setting

// A Rank is the origin of a setting. If two settings contradict each other, the higher rank wins. Two settings
// of the same rank must not contradict each other.
type Rank uint8

// The ranks of settings.
const (
	Unset    Rank = iota
	Preset        // from a preset
	Variable      // from an environment variable
	Typed         // from the command line
	Entry         // from an entry of a targets file
)

// last returns the last setting of the flag called name. Without a setting, its rank is Unset and its origin is
// --FLAG.
func (l Settings) last(name string) Setting {
	for _, s := range slices.Backward(l) {
		if s.Flag.Name == name {
			return s
		}
	}
	return Setting{Origin: "--" + name}
}

// Texts returns all values of the flag called name, as they were given.
func (l Settings) Texts(name string) (texts []string) {
	for _, s := range l {
		if s.Flag.Name == name {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Rank returns the rank of the flag called name, or Unset if the flag is not set.
func (l Settings) Rank(name string) Rank { return l.last(name).Rank }

// Has reports whether the flag called name is set.
func (l Settings) Has(name string) bool { return l.Rank(name) > Unset }

// IsOn reports whether the flag called name is set, and is not a switch that is turned off.
func (l Settings) IsOn(name string) bool { return l.last(name).isOn() }

// Origin returns the origin of the last setting of the flag called name, or --FLAG without a setting.
func (l Settings) Origin(name string) string { return l.last(name).Origin }

// With returns the settings with the value text for f. The value replaces earlier values. If f may be repeated
// and the rank is the same, the value is added to them.
//
// An invalid value is an error, but the setting is added. Two errors leave the settings unchanged: a switch that
// is neither true nor false, and an empty value where it is not valid.
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

// Without returns the settings except the settings of the flag called name.
func (l Settings) Without(name string) Settings {
	if !l.Has(name) {
		return l
	}
	return slices.DeleteFunc(slices.Clone(l), func(s Setting) bool { return s.Flag.Name == name })
}

// Apply sets the fields of to, in the order of the settings. to is a pointer to a struct that the table of flags
// sets.
func (l Settings) Apply(to any) {
	for _, s := range l {
		if s.apply != nil {
			s.apply(to)
		}
	}
}

// A Check holds the properties of a wait that [Settings.Resolved] needs.
type Check struct {
	Kinds   Kinds   // the kinds of the targets
	Word    string  // the name of the kinds in hints.txt
	Least   Rank    // settings of a lower rank need not apply to the kinds
	Limits  []Limit // the limits of the wait
	Entries Flags   // the flags that entries of a targets file may set, including a flag that a setting needs; nil without such a file
}

// A Limit is a kind of wait that excludes some flags.
type Limit struct {
	Holds bool   // whether the wait has this kind
	Kind  string // the kind for [NotApplicable]
	Flags string // the names of excluded flags, separated by blanks
}

// Resolved returns the settings that apply to the wait c. If two settings contradict each other, it drops the
// setting of the lower rank. It drops a variable that c.Limits excludes, or whose flag needs a flag that is not
// on.
//
// It returns an error for two settings of the same rank that contradict each other. It also returns an error for
// another setting that does not apply to the wait, or that lacks the flag that it needs.
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
				return l, Usagef("%s and %s contradict each other: give one of them", one.Origin, two.Origin[strings.LastIndex(two.Origin, " ")+1:]).
					Advise("contradict " + s.Flag.Name + " " + name)
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

// within returns the settings without the variables that limits exclude. Any other setting that limits exclude
// is an error.
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
