package argv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/words"
)

// A Line is a parsed command line: its flags, its operands, and the first error.
type Line struct {
	Settings
	Command *Command
	Flags   Flags
	// Typed holds the flags on the command line as the user typed them, in order. Only the fields Flag and Text
	// are set.
	Typed []Setting
	// Operands holds the operands of the command. If IsCommand is true, it holds a program and its arguments.
	Operands []string
	// Rest holds all arguments after "--". In the main command without "--", it starts with the first operand that
	// is not a URL.
	Rest []string
	// Switch is the switch directly before the program, as the user typed it, or "" if another argument precedes the
	// program. Only the main command sets it.
	Switch string
	// Then holds the program after "--" and its arguments, if the line has operands before "--".
	Then []string
	// IsCommand is true if Operands holds a program and its arguments. Dashes is true if the line contains "--".
	IsCommand, Dashes bool
	LookupEnv         Lookup // reads the environment
	// Write writes text, a result of the command, to stdout.
	Write func(ctx context.Context, text string) error
	// Err is the first error in the command line, or nil.
	Err error

	waiting *Flag     // the flag in the last argument if its value is still missing; otherwise nil
	notes   *[]string // notes for the user; copies of the Line share them
}

// A Lookup returns the value of the environment variable called name, and reports whether the variable is set, like
// [os.LookupEnv].
type Lookup func(name string) (value string, isSet bool)

// Get returns the value of the environment variable called name, or "" if the variable is not set.
func (lookup Lookup) Get(name string) string {
	value, _ := lookup(name)
	return value
}

// NewLine returns a Line for the command c. Its method Parse adds the arguments.
func NewLine(c *Command) *Line {
	return &Line{Command: c, Flags: c.Flags, notes: new([]string)}
}

// Note formats a note for the user according to format, and stores it with the prefix "note: ".
func (l *Line) Note(format string, args ...any) {
	*l.notes = append(*l.notes, "note: "+fmt.Sprintf(format, args...))
}

// Notes returns the stored notes, oldest first.
func (l *Line) Notes() []string { return *l.notes }

// Fail records err in l.Err, unless l.Err holds an earlier error. A nil err has no effect.
func (l *Line) Fail(err error) { l.Err = cmp.Or(l.Err, err) }

// Add appends the setting of flag f to l.Settings with [Settings.With], and records any error with Fail.
func (l *Line) Add(f *Flag, text, origin string, rank Rank) {
	given, err := l.With(f, text, origin, rank)
	l.Settings = given
	l.Fail(err)
}

// HasTyped reports whether the flag called name was typed on the command line.
func (l *Line) HasTyped(name string) bool {
	return slices.ContainsFunc(l.Typed, func(s Setting) bool { return s.Flag.Name == name })
}

// Environ sets flags from their environment variables. It skips flags that are already set, flags that do not
// apply to any kind in kinds, and empty variables.
//
// Some flags, such as --until, have no environment variable (HasVariable is false). If the environment
// nevertheless contains a variable for such a flag, Environ records an error. If it ignored POLL_UNTIL, for
// example, the wait might end with SUCCESS too early.
func (l *Line) Environ(kinds Kinds) {
	for i := range l.Flags {
		f := &l.Flags[i]
		name := f.Variable()
		text, isSet := l.LookupEnv(name)
		switch {
		case !isSet || f.Set == nil:
		case !f.HasVariable:
			l.Fail(Usagef("%s is set, but --%s has no variable", name, f.Name).Hint("unset %s, and give --%s on the command line", name, f.Name))
		case text == "" || l.Has(f.Name) || !f.Fits(kinds):
		case f.Many:
			for text := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
				l.Add(f, text, name, Variable)
			}
		default:
			l.Add(f, text, name, Variable)
		}
	}
}

// Parse sorts args into flags and operands, and stops at "--". For the main command, it also stops at the first
// operand that is not a URL: this operand is a program, and all later arguments are the program's arguments.
//
// After an error, the main command ignores operands, because an operand may be the value of an unknown flag. Parse
// still collects the flags.
func (l *Line) Parse(args []string) {
	onlyURLs, word := l.Command.Name == "", ""
	for len(args) > 0 {
		previous := word
		word = args[0]
		switch args = args[1:]; {
		case word == "--":
			l.Dashes, l.Rest = true, args
			return
		case strings.HasPrefix(word, "--"):
			args = l.long(word[2:], args)
		case len(word) > 1 && word[0] == '-':
			args = l.short(word[1:], args)
		case onlyURLs && l.Err != nil:
		case onlyURLs && !HasScheme(word):
			l.Rest = append([]string{word}, args...)
			if n := len(l.Typed); strings.HasPrefix(previous, "-") && l.Typed[n-1].Flag.IsSwitch() {
				l.Switch = previous
			}
			return
		default:
			l.Operands = append(l.Operands, word)
		}
	}
}

// give appends the flag f with its value to l.Typed.
func (l *Line) give(f *Flag, value string) { l.Typed = append(l.Typed, Setting{Flag: f, Text: value}) }

// long parses word, a long flag without its dashes: "name" or "name=value". args holds the arguments after word. If
// the value is missing from word, long takes args[0] as the value. It returns the arguments that remain of args.
func (l *Line) long(word string, args []string) []string {
	name, value, glued := strings.Cut(word, "=")
	f := l.Flags.Lookup(name)
	switch {
	case strings.Contains(name, " "):
		l.Fail(Usagef("a flag and its value are one argument").Hint("leave the quotes out, or quote the value only: --until '.ok'"))
	case f == nil || len(name) == 1:
		l.Fail(l.unknown("--"+name, args))
	case glued:
		l.give(f, value)
	case f.IsSwitch():
		l.give(f, "true")
	default:
		return l.next(f, "--"+name, args)
	}
	return args
}

// short parses word, an argument such as -q, -XPOST, -d@file or -sSfL without its dash. As in curl, a letter that
// needs a value takes the rest of word as its value, or the next argument if word ends. short returns the
// arguments that remain of args.
func (l *Line) short(word string, args []string) []string {
	// Without this test, poll would read -until as -u ntil, and -data as -d ata.
	if name, _, _ := strings.Cut(word, "="); len(name) > 1 && l.Flags.Lookup(name) != nil {
		l.Fail(Usagef("unknown flag -%s", name).Hint("did you mean --%s?", name))
		return args
	}
	for word != "" {
		_, size := utf8.DecodeRuneInString(word)
		letter, rest := word[:size], word[size:]
		f := l.Flags.Lookup(letter)
		switch {
		case f == nil:
			l.Fail(l.unknown("-"+strings.ToValidUTF8(letter, "?"), args))
			return args
		case f.IsSwitch():
			l.give(f, "true")
		case rest == "":
			return l.next(f, "-"+letter, args)
		default:
			l.give(f, strings.TrimPrefix(rest, "="))
			return args
		}
		word = rest
	}
	return args
}

// next stores args[0] as the value of f, and returns the remaining arguments. It fails if args is empty, or if
// args[0] is itself a known long flag. spelled is the flag as the user typed it.
func (l *Line) next(f *Flag, spelled string, args []string) []string {
	if len(args) == 0 {
		l.waiting = f
		l.Fail(Usagef("%s needs a value: %s %s", spelled, spelled, f.Value))
		return nil
	}
	if name, _, _ := strings.Cut(args[0], "="); strings.HasPrefix(name, "--") && l.Flags.Lookup(name[2:]) != nil {
		l.Fail(Usagef("%s needs a value, and %s is a flag", spelled, name))
		return args
	}
	l.give(f, args[0])
	return args[1:]
}

// unknown returns the error for the unknown flag spelled, with a hint. args holds the arguments after the flag. If
// no argument before or after the flag is a URL, the hint assumes that the flag is meant for a program.
func (l *Line) unknown(spelled string, args []string) error {
	err, name := Usagef("unknown flag %s", spelled), strings.TrimLeft(spelled, "-")
	meaning, hint := Advice("flag " + name)
	meant := words.Nearest(name, l.Flags.Shown())
	switch {
	case hint != "":
		return err.Hint("%s", hint)
	case l.Flags.Lookup(meaning) != nil:
		return err.Hint("poll calls it --%s", meaning)
	case meant != "":
		return err.Hint("did you mean --%s?", meant)
	case l.Command.Name != "":
		return err.Hint("poll %s --help lists its flags", l.Command.Name)
	case slices.ContainsFunc(append(args, l.Operands...), HasScheme):
		return err.Advise("like " + spelled + " URL")
	}
	return err.Advise("like " + spelled + " command")
}

// HasScheme reports whether word starts with a URL scheme and "://".
func HasScheme(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	isLetter := func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
	inScheme := func(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.' }
	return found && scheme != "" && isLetter(rune(scheme[0])) && strings.TrimFunc(scheme, inScheme) == ""
}
