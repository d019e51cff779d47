package cli

import "slices"

// A conflict is two flags that cannot both be meant.
type conflict struct {
	flag, other string
	// unless is a value of other with which the two go together; "" is none.
	unless string
}

// conflicts of the main command.
func conflicts() []conflict {
	return []conflict{
		{"interval", "strategy", ""},
		{"interval", "base", ""},
		{"interval", "factor", ""},
		{"interval", "power", ""},
		{"interval", "overshoot", ""},
		{"overshoot", "factor", ""},
		{"overshoot", "power", ""},
		{"overshoot", "strategy", "exponential"},
		{"factor", "strategy", "exponential"},
		{"power", "strategy", "polynomial"},
		{"quiet", "progress", "none"},
		{"quiet", "verbose", ""},
		{"quiet", "show-stderr", ""},
		{"show-stderr", "progress", ""},
	}
}

// resolveConflicts refuses two flags that contradict each other. Where one was
// given and the other is only in the environment, the one that was given is
// meant.
func (s *split) resolveConflicts() error { return s.resolve(conflicts()) }

func (s *split) resolve(conflicts []conflict) error {
	for _, c := range conflicts {
		one, other := s.last(c.flag), s.last(c.other)
		if one == nil || other == nil || other.value == c.unless || off(one) || off(other) {
			continue
		}
		if c.flag == "show-stderr" && other.value != "json" {
			continue
		}
		switch {
		case one.env && !other.env:
			s.dropEnvironment(c.flag)
		case other.env && !one.env:
			s.dropEnvironment(c.other)
		default:
			return contradiction(one, other)
		}
	}
	return nil
}

func off(g *given) bool { return g.flag.isSwitch() && g.value == "false" }

func contradiction(one, other *given) error {
	spell := func(g *given) string {
		if g.flag.words != nil {
			return g.origin() + " " + g.value
		}
		return g.origin()
	}
	return usagef("%s and %s contradict each other: give one of them", spell(one), spell(other))
}

// last is what a flag is set to in the end, nil if it is not.
func (s *split) last(name string) *given {
	for i := range slices.Backward(s.given) {
		if s.given[i].flag.name == name {
			return &s.given[i]
		}
	}
	return nil
}

// origin is how an error names a flag: by its variable if that was used.
func (g *given) origin() string {
	if g.env {
		return g.flag.env()
	}
	return "--" + g.flag.name
}
