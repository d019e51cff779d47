package argv

import (
	"slices"
	"strings"
)

// A split is a command line taken apart. urfave reads the flags that it wrote:
// each with its full name and its value.
type split struct {
	program  *Program
	table    Flags
	seen     []*Flag
	flags    []string // "--name=value"
	operands []string
	// command is true when the operands are a program and its arguments.
	command bool
	// subcommand is the first word when it names one; rest are the words after it.
	subcommand string
	rest       []string
}

func (s *split) has(name string) bool {
	return slices.ContainsFunc(s.seen, func(f *Flag) bool { return f.Name == name })
}

func (s *split) give(f *Flag, value string) {
	s.seen = append(s.seen, f)
	s.flags = append(s.flags, "--"+f.Name+"="+value)
}

// main takes the main command line apart. Behind an operand come operands and
// flags; behind a word that names a subcommand all is that subcommand's; any
// other begins a command, verbatim, whose words must be its own. What was read
// before an error stays.
func (s *split) main(args []string) error {
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			return s.takeRest(args[1:])
		case isFlag(word):
			rest, err := s.takeFlag(args)
			if err != nil {
				return err
			}
			args = rest
			continue
		case s.program.IsOperand(word):
			s.operands = append(s.operands, word)
		default:
			if err := s.refuse(word); err != nil {
				return err
			}
			if slices.Contains(s.program.Names(), word) {
				s.subcommand, s.rest = word, args[1:]
				return s.nothingBefore(word)
			}
			s.operands, s.command = args, true
			return s.refuseMisplaced(args)
		}
		args = args[1:]
	}
	return nil
}

// refuse refuses a word that is no operand where no command can begin.
func (s *split) refuse(word string) error {
	if s.program.Refuse != nil {
		if err := s.program.Refuse(word, s.has); err != nil {
			return err
		}
	}
	if len(s.operands) > 0 {
		return s.program.tooMany(append(s.operands, word), len(s.operands), s.program.Surplus)
	}
	return nil
}

// takeRest takes what stands behind "--".
func (s *split) takeRest(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if len(s.operands) > 0 {
		return s.program.tooMany(append(s.operands, args[0]), len(s.operands), s.program.Surplus)
	}
	s.operands, s.command = args, !s.program.IsOperand(args[0])
	isWord := func(word string) bool { return !s.program.IsOperand(word) }
	if i := slices.IndexFunc(args, isWord); i > 0 && !s.command {
		return s.program.tooMany(args, i, s.program.Surplus)
	}
	return nil
}

func (s *split) nothingBefore(subcommand string) error {
	if len(s.seen) == 0 {
		return nil
	}
	name := s.seen[0].Name
	return Usagef("--%s stands before the subcommand %s: flags follow the subcommand", name, subcommand).
		Hint("a program of that name is run with: %s --%s ... -- %s", s.program.Name, name, subcommand)
}

// sub takes a subcommand's words apart: flags may stand anywhere before "--".
func (s *split) sub(args []string) error {
	for len(args) > 0 {
		switch word := args[0]; {
		case word == "--":
			s.operands = append(s.operands, args[1:]...)
			return nil
		case isFlag(word):
			rest, err := s.takeFlag(args)
			if err != nil {
				return err
			}
			args = rest
		default:
			s.operands = append(s.operands, word)
			args = args[1:]
		}
	}
	return nil
}

// isFlag reports whether a word is meant as a flag; "-" alone is an operand.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// takeFlag reads the flag that args begin with and returns the words after it.
func (s *split) takeFlag(args []string) ([]string, error) {
	if strings.HasPrefix(args[0], "--") {
		return s.takeLong(args)
	}
	return s.takeShort(args)
}

func (s *split) takeLong(args []string) ([]string, error) {
	name, value, glued := strings.Cut(args[0][2:], "=")
	f := s.table.Lookup(name)
	if f == nil || len(name) == 1 {
		return nil, s.unknownFlag("--" + name)
	}
	switch {
	case f.IsSwitch() && !glued:
		value = "true"
	case f.IsSwitch():
		on, err := switchValue(value)
		if err != nil {
			return nil, Usagef("--%s is a switch: %w", name, err)
		}
		value = on
	case !glued:
		return s.takeValue(f, "--"+name, args[1:])
	}
	s.give(f, value)
	return args[1:], nil
}

// takeShort reads a word such as -q, -XPOST, -d@file or -sSfL, as curl does:
// a letter that takes a value takes the rest of the word, or the next one.
func (s *split) takeShort(args []string) ([]string, error) {
	word := args[0][1:]
	// -until would be read as -u ntil, and -data as -d ata.
	if long, _, _ := strings.Cut(word, "="); len(long) > 1 && s.table.Lookup(long) != nil {
		return nil, Usagef("unknown flag -%s", long).Hint("did you mean --%s?", long)
	}
	for i, letter := range word {
		name := string(letter)
		f := s.table.Lookup(name)
		if f == nil {
			return nil, s.unknownFlag("-" + name)
		}
		if f.IsSwitch() {
			s.give(f, "true")
			continue
		}
		if glued := word[i+len(name):]; glued != "" {
			s.give(f, strings.TrimPrefix(glued, "="))
			return args[1:], nil
		}
		return s.takeValue(f, "-"+name, args[1:])
	}
	return args[1:], nil
}

// takeValue takes the next word as the value of f, unless that is plainly
// another flag.
func (s *split) takeValue(f *Flag, spelled string, rest []string) ([]string, error) {
	if len(rest) == 0 {
		return nil, Usagef("%s needs a value: %s %s", spelled, spelled, f.Value)
	}
	if name, _, _ := strings.Cut(rest[0], "="); strings.HasPrefix(name, "--") && s.table.Lookup(name[2:]) != nil {
		return nil, Usagef("%s needs a value, and %s is a flag", spelled, name)
	}
	s.give(f, rest[0])
	return rest[1:], nil
}
