package argv

import (
	"slices"
	"strconv"
	"strings"
)

// A Setting is a parsed value of a flag, with its source.
type Setting struct {
	Flag   *Flag
	Text   string
	Origin string // the setting's name in error messages: --FLAG, POLL_FLAG, or "FILE:LINE: KEY" in a preset or targets file
	Rank   Rank

	apply func(any) // stores the value in a struct; nil if the flag stores nothing
}

// isOn reports whether the flag is set. A switch with the value false does not count as set.
func (s Setting) isOn() bool { return s.Rank > Unset && !(s.Flag.IsSwitch() && s.Text == "false") }

// Settings lists flag values, ordered as on the command line and in the other sources. Methods that add or remove
// a setting return a new list and leave the original unchanged.
type Settings []Setting

// A Rank is the precedence of a setting, given by its source. If two settings contradict each other, the setting
// with the higher rank wins. A contradiction between equal ranks is an error.
type Rank uint8

// The ranks, lowest first.
const (
	Unset    Rank = iota
	Preset        // a preset's setting
	Variable      // an environment variable
	Typed         // a flag on the command line
	Entry         // an entry of a targets file
)

// last returns the last setting of the flag called name. If the flag is not set, it returns a Setting with rank
// Unset and the origin --NAME.
func (l Settings) last(name string) Setting {
	for _, s := range slices.Backward(l) {
		if s.Flag.Name == name {
			return s
		}
	}
	return Setting{Origin: "--" + name}
}

// Texts returns all values of the flag called name, unparsed and in order.
func (l Settings) Texts(name string) (texts []string) {
	for _, s := range l {
		if s.Flag.Name == name {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Rank returns the rank of the flag called name. It returns Unset if the flag is not set.
func (l Settings) Rank(name string) Rank { return l.last(name).Rank }

// Has reports whether the flag called name is set. For a switch, the value false counts, too.
func (l Settings) Has(name string) bool { return l.Rank(name) > Unset }

// IsOn reports whether the flag called name is set. Unlike Has, it returns false for a switch with the value
// false.
func (l Settings) IsOn(name string) bool { return l.last(name).isOn() }

// Origin returns the source of the last setting of the flag called name, in the form used in error messages. It
// returns --NAME if the flag is not set.
func (l Settings) Origin(name string) string { return l.last(name).Origin }

// With returns the settings after adding the value text of the flag f. The value replaces earlier values of the
// flag, unless f may be repeated and the earlier values have the same rank.
//
// If text is not a valid value, With returns an error together with a list that includes the setting. It returns
// the list unchanged in two other error cases: if f is a switch and text is not a boolean, and if text is empty
// but f needs a value.
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
		return l, Usagef("%s has an empty line", origin).Hint("each line of the variable is a value of --%s", f.Name)
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

// Without returns the settings without any values of the flag called name.
func (l Settings) Without(name string) Settings {
	return slices.DeleteFunc(slices.Clone(l), func(s Setting) bool { return s.Flag.Name == name })
}

// Apply stores the values in structs, in the order of the settings. The elements of to are pointers to the structs.
// Each value is stored in the struct for which its flag was defined.
func (l Settings) Apply(to ...any) {
	for _, s := range l {
		for _, target := range to {
			if s.apply != nil {
				s.apply(target)
			}
		}
	}
}

// A Check holds the properties of a wait against which [Settings.Resolved] checks the settings.
type Check struct {
	Kinds   Kinds   // the kinds of the wait's targets
	Word    string  // the name of Kinds in hints.txt
	Least   Rank    // settings with a lower rank are not checked: they may set flags that do not apply to the wait, or that lack the flag they need
	Limits  []Limit // properties of the wait that exclude flags
	Entries Flags   // the flags that the entries of a targets file may set, so that a needed flag may come from an entry; nil without such a file
}

// A Limit names flags that do not apply to waits with a certain property.
type Limit struct {
	Holds bool   // whether the wait has the property
	Kind  string // the property's name, for [NotApplicable]
	Flags string // the names of the excluded flags, separated by blanks
}

// Resolved returns the settings that apply to the wait that c describes. It removes a setting that contradicts a
// setting with a higher rank. It also removes an environment variable's setting if c.Limits excludes its flag, or
// if the flag needs another flag that is not set.
//
// It returns an error if two settings with the same rank contradict each other. It also returns an error for any
// other setting that does not apply to the wait, or that lacks the flag it needs.
func (l Settings) Resolved(c Check) (Settings, error) {
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
		switch kind := c.excludes(s); {
		case kind == "" || !s.isOn():
		case s.Rank == Variable:
			l = l.Without(s.Flag.Name)
		default:
			return l, NotApplicable(s.Flag.Name, s.Origin, kind)
		}
	}
	for _, s := range l {
		needs := s.Flag.Needs
		inEntries := c.Entries.Named(needs)
		switch {
		case needs == "" || s.Rank < c.Least || !s.isOn() || l.IsOn(needs) || inEntries != nil && !inEntries.WholeRun:
		case s.Rank == Variable:
			l = l.Without(s.Flag.Name)
		default:
			return l, Usagef("%s needs --%s", s.Origin, needs).Advise("needs " + s.Flag.Name)
		}
	}
	return l, nil
}

// excludes returns the kind of wait that excludes the flag of s, for [NotApplicable]. It returns "" if the flag
// applies to the wait.
func (c Check) excludes(s Setting) (kind string) {
	if s.Rank >= c.Least && !s.Flag.Fits(c.Kinds) {
		return c.Word
	}
	for _, limit := range c.Limits {
		if limit.Holds && slices.Contains(strings.Fields(limit.Flags), s.Flag.Name) {
			return limit.Kind
		}
	}
	return ""
}
