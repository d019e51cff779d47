package cli

import (
	"regexp"
	"slices"
	"strings"
)

// A split is a command line taken apart: which flags are set to what, and what
// is left. The library stops at the first operand, so it only sees the flags,
// and they have their full names then.
type split struct {
	of       string // the subcommand whose flags they are, "" for the main command
	given    []given
	operands []string
	// command is true when the operands are a program and its arguments, false
	// for URLs and for a subcommand's operands.
	command bool
	// subcommand is the first word when it names one; rest are the words after it.
	subcommand string
	rest       []string
}

// given is a flag with a value.
type given struct {
	flag  *flag
	value string // "true" or "false" for a switch
	env   bool   // from the environment, not from the command line
}

// args are the flags in the form that the library reads without guessing.
func (s *split) args() []string {
	args := make([]string, len(s.given))
	for i, g := range s.given {
		args[i] = "--" + g.flag.name + "=" + g.value
	}
	return args
}

// used are the flags that are set, each once.
func (s *split) used() flags {
	var used flags
	for _, g := range s.given {
		if used.lookup(g.flag.name) == nil {
			used = append(used, *g.flag)
		}
	}
	return used
}

func (s *split) has(name string) bool {
	return slices.ContainsFunc(s.given, func(g given) bool { return g.flag.name == name })
}

// on reports whether a switch is on.
func (s *split) on(name string) bool {
	on := false
	for _, g := range s.given {
		if g.flag.name == name {
			on = g.value == "true"
		}
	}
	return on
}

// withScheme matches an operand that is a URL, of whatever scheme.
var withScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// splitMain takes the main command line apart. A first operand with a URL
// scheme makes the rest URLs and flags; one that names a subcommand makes the
// rest that subcommand's; anything else is a command, verbatim, whose words must
// be its own. What was read
// before an error is returned with it.
func splitMain(table flags, subcommands []string, args []string) (split, error) {
	var s split
	urls := false
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			return s, s.takeRest(args[1:], urls)
		case isFlag(word):
			rest, err := s.takeFlag(table, args)
			if err != nil {
				return s, err
			}
			args = rest
			continue
		case withScheme.MatchString(word):
			urls = true
			s.operands = append(s.operands, word)
		case s.has("json") && isDocument(word):
			return s, curlsJSON()
		case urls:
			return s, tooMany(append(s.operands, word), len(s.operands))
		case slices.Contains(subcommands, word):
			s.subcommand, s.rest = word, args[1:]
			return s, s.nothingBefore(word)
		default:
			s.operands, s.command = args, true
			return s, s.refuseMisplaced(table, args)
		}
		args = args[1:]
	}
	return s, nil
}

// takeRest takes what stands behind "--".
func (s *split) takeRest(args []string, urls bool) error {
	if urls && len(args) > 0 {
		return tooMany(append(s.operands, args[0]), len(s.operands))
	}
	if !urls {
		s.operands = args
		s.command = len(args) > 0 && !withScheme.MatchString(args[0])
	}
	if i := slices.IndexFunc(s.operands, func(word string) bool { return !withScheme.MatchString(word) }); i > 0 && !s.command {
		return tooMany(s.operands, i)
	}
	return nil
}

func tooMany(operands []string, index int) error {
	return surplus(operands, index, "after a URL only flags may follow")
}

func (s *split) nothingBefore(subcommand string) error {
	if len(s.given) == 0 {
		return nil
	}
	name := s.given[0].flag.name
	return usagef("--%s stands before the subcommand %s: flags follow the subcommand", name, subcommand).
		hint("a program of that name is run with: poll --%s ... -- %s", name, subcommand)
}

// splitSub takes a subcommand's words apart: flags may stand anywhere before "--".
func splitSub(name string, table flags, args []string) (split, error) {
	s := split{of: name}
	for len(args) > 0 {
		switch word := args[0]; {
		case word == "--":
			s.operands = append(s.operands, args[1:]...)
			return s, nil
		case isFlag(word):
			rest, err := s.takeFlag(table, args)
			if err != nil {
				return s, err
			}
			args = rest
		default:
			s.operands = append(s.operands, word)
			args = args[1:]
		}
	}
	return s, nil
}

// isFlag reports whether a word is meant as a flag; "-" alone is an operand.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// takeFlag reads the flag that args begin with and returns the words after it.
func (s *split) takeFlag(table flags, args []string) ([]string, error) {
	if strings.HasPrefix(args[0], "--") {
		return s.takeLong(table, args)
	}
	return s.takeShort(table, args)
}

func (s *split) takeLong(table flags, args []string) ([]string, error) {
	name, value, glued := strings.Cut(args[0][2:], "=")
	f := table.lookup(name)
	if f == nil || len(name) == 1 {
		return nil, s.unknownFlag(table, "--"+name)
	}
	switch {
	case f.isSwitch() && !glued:
		value = "true"
	case f.isSwitch():
		on, err := switchValue(value)
		if err != nil {
			return nil, usagef("--%s is a switch: %w", name, err)
		}
		value = on
	case !glued:
		return s.takeValue(table, f, "--"+name, args[1:])
	}
	s.given = append(s.given, given{flag: f, value: value})
	return args[1:], nil
}

// takeShort reads a word such as -q, -XPOST, -d@file or -sSfL, as curl does:
// a letter that takes a value takes the rest of the word, or the next one.
func (s *split) takeShort(table flags, args []string) ([]string, error) {
	word := args[0][1:]
	// -until would be read as -u ntil, and -data as -d ata.
	if long, _, _ := strings.Cut(word, "="); len(long) > 1 && table.lookup(long) != nil {
		return nil, usagef("unknown flag -%s", long).hint("did you mean --%s?", long)
	}
	for i, letter := range word {
		name := string(letter)
		f := table.lookup(name)
		if f == nil {
			return nil, s.unknownFlag(table, "-"+name)
		}
		if f.isSwitch() {
			s.given = append(s.given, given{flag: f, value: "true"})
			continue
		}
		if glued := word[i+len(name):]; glued != "" {
			s.given = append(s.given, given{flag: f, value: strings.TrimPrefix(glued, "=")})
			return args[1:], nil
		}
		return s.takeValue(table, f, "-"+name, args[1:])
	}
	return args[1:], nil
}

// takeValue takes the next word as the value of f, unless that is plainly
// another flag.
func (s *split) takeValue(table flags, f *flag, spelled string, rest []string) ([]string, error) {
	if len(rest) == 0 {
		return nil, usagef("%s needs a value: %s %s", spelled, spelled, f.value)
	}
	if name, _, _ := strings.Cut(rest[0], "="); strings.HasPrefix(name, "--") && table.lookup(name[2:]) != nil {
		return nil, usagef("%s needs a value, and %s is a flag", spelled, name)
	}
	s.given = append(s.given, given{flag: f, value: rest[0]})
	return rest[1:], nil
}

func switchValue(value string) (string, error) {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return "true", nil
	case "", "0", "false", "no", "off":
		return "false", nil
	}
	return "", usagef("%q is neither true nor false", value)
}

// tookURL is the last flag of the command line whose value is a URL, nil if none
// is.
func (s *split) tookURL() *given {
	for i := range slices.Backward(s.given) {
		if g := &s.given[i]; !g.env && withScheme.MatchString(g.value) {
			return g
		}
	}
	return nil
}

// addEnvironment gives every flag that the command line leaves alone the value
// of its variable. A variable for a flag that may be repeated holds one value a
// line.
func (s *split) addEnvironment(table flags, lookup func(string) (string, bool)) error {
	for i := range table {
		f := &table[i]
		value, ok := lookup(f.env())
		if !ok || value == "" || f.hidden || s.has(f.name) {
			continue
		}
		values := []string{value}
		if f.isSwitch() {
			on, err := switchValue(value)
			if err != nil {
				return usagef("%s: %w", f.env(), err)
			}
			values[0] = on
		} else if f.many {
			values = strings.Split(strings.TrimRight(value, "\n"), "\n")
		}
		for _, v := range values {
			s.given = append(s.given, given{flag: f, value: v, env: true})
		}
	}
	return nil
}

// dropEnvironment takes back what the environment said of the named flags.
func (s *split) dropEnvironment(names ...string) {
	s.given = slices.DeleteFunc(s.given, func(g given) bool {
		return g.env && slices.Contains(names, g.flag.name)
	})
}
