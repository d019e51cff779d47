package argv

import (
	"slices"
	"strings"
)

// A reader parses the words of a command line for [Program.Run] and
// [Program.Complete]. It passes the flags on to urfave in normal form: each
// with its full name and its value.
type reader struct {
	program *Program
	command *Command // the main command until a word names another
	seen    []*Flag
	flags   []string // "--name=value"
	// Operands are those of the command, or a program and its arguments.
	Operands  []string
	isProgram bool
	// Then is a program and its arguments: what comes after "--" behind operands.
	Then     []string
	verbatim bool  // after "--"
	waiting  *Flag // the flag that the last word is, if its value is missing
}

func (r *reader) has(name string) bool {
	return slices.ContainsFunc(r.seen, func(f *Flag) bool { return f.Name == name })
}

func (r *reader) give(f *Flag, value string) {
	r.seen = append(r.seen, f)
	r.flags = append(r.flags, "--"+f.Name+"="+value)
}

// read reads the first word, with the next one if that is its value, and
// returns the others, even on an error. Flags may stand anywhere before "--".
// In the main command a word that is not an operand names a subcommand, or
// begins a program's words, which are its own.
func (r *reader) read(args []string) (rest []string, err error) {
	word := args[0]
	switch {
	case word == "--" && !r.verbatim && r.command == r.program.Main && len(r.Operands) > 0:
		r.verbatim, r.Then = true, args[1:]
		return nil, nil
	case word == "--" && !r.verbatim:
		r.verbatim = true
	case isFlag(word) && !r.verbatim:
		return r.readFlag(args)
	case r.command != r.program.Main || r.program.IsOperand(word):
		r.Operands = append(r.Operands, word)
	case len(r.Operands) > 0:
		err = r.refuse(word)
		if err == nil {
			err = r.program.tooMany(append(r.Operands, word), len(r.Operands), r.program.Surplus)
		}
	default:
		return r.readCommand(args)
	}
	return args[1:], err
}

func (r *reader) refuse(word string) error {
	if r.program.Refuse == nil || r.verbatim {
		return nil
	}
	return r.program.Refuse(word, r.has)
}

// readCommand reads the name of a subcommand, or a program with all its words.
func (r *reader) readCommand(args []string) ([]string, error) {
	word := args[0]
	isSubcommand := !r.verbatim && slices.Contains(r.program.Names(), word)
	if isSubcommand && len(r.seen) == 0 {
		r.command = r.program.find(word)
		return args[1:], nil
	}
	r.Operands, r.isProgram = args, true
	err := r.refuse(word)
	switch {
	case err != nil || r.verbatim:
	case isSubcommand:
		name := r.seen[0].Name
		err = Usagef("--%s comes before the subcommand %s: its flags come after it", name, word).
			Hint("a program of that name is run with: %s --%s ... -- %s", r.program.Name, name, word)
	default:
		err = r.refuseMisplaced(args)
	}
	return nil, err
}

// isFlag reports whether a word is meant as a flag; "-" alone is an operand.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

func (r *reader) readFlag(args []string) ([]string, error) {
	if strings.HasPrefix(args[0], "--") {
		return r.readLong(args)
	}
	return r.readShort(args)
}

func (r *reader) readLong(args []string) ([]string, error) {
	name, value, glued := strings.Cut(args[0][2:], "=")
	f, rest := r.command.Flags.Lookup(name), args[1:]
	switch {
	case f == nil || len(name) == 1:
		return rest, r.unknownFlag("--" + name)
	case f.IsSwitch() && !glued:
		value = "true"
	case !glued:
		return r.readValue(f, "--"+name, rest)
	}
	value, err := f.normal(value)
	if err != nil {
		return rest, Usagef("--%s is a switch: %w", name, err)
	}
	r.give(f, value)
	return rest, nil
}

// readShort reads a word such as -q, -XPOST, -d@file or -sSfL, as curl does:
// a letter that takes a value takes the rest of the word, or the next one.
func (r *reader) readShort(args []string) ([]string, error) {
	word, rest := args[0][1:], args[1:]
	// Otherwise -until would be -u ntil, and -data would be -d ata.
	if long, _, _ := strings.Cut(word, "="); len(long) > 1 && r.command.Flags.Lookup(long) != nil {
		return rest, Usagef("unknown flag -%s", long).Hint("did you mean --%s?", long)
	}
	for i, letter := range word {
		name := string(letter)
		f := r.command.Flags.Lookup(name)
		if f == nil {
			return rest, r.unknownFlag("-" + name)
		}
		if f.IsSwitch() {
			r.give(f, "true")
			continue
		}
		if glued := word[i+len(name):]; glued != "" {
			r.give(f, strings.TrimPrefix(glued, "="))
			return rest, nil
		}
		return r.readValue(f, "-"+name, rest)
	}
	return rest, nil
}

// readValue takes the next word as the value of f, unless that is plainly
// another flag.
func (r *reader) readValue(f *Flag, spelled string, rest []string) ([]string, error) {
	if len(rest) == 0 {
		r.waiting = f
		return nil, Usagef("%s needs a value: %s %s", spelled, spelled, f.Value)
	}
	if name, _, _ := strings.Cut(rest[0], "="); strings.HasPrefix(name, "--") && r.command.Flags.Lookup(name[2:]) != nil {
		return rest, Usagef("%s needs a value, and %s is a flag", spelled, name)
	}
	r.give(f, rest[0])
	return rest[1:], nil
}

// normal returns a value in normal form: for a switch, "true" or "false".
func (f *Flag) normal(value string) (string, error) {
	if !f.IsSwitch() {
		return value, nil
	}
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return "true", nil
	case "", "0", "false", "no", "off":
		return "false", nil
	}
	return "", Usagef("%q is neither true nor false", value)
}
