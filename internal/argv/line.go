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

// A Line is a command line that was read. It has the flags that are set, and the operands.
type Line struct {
	Settings
	Command *Command
	Flags   Flags
	// Typed are the flags on the command line, in their order, with only their Flag and Text.
	Typed []Setting
	// Operands are the operands of the command, or a program and its arguments.
	Operands []string
	// Rest is all arguments after "--". Without "--", it starts with the first operand that is not a URL.
	Rest []string
	// Then is the program and its arguments after "--", if operands come before "--".
	Then []string
	// IsCommand is true if the operands are a program and its arguments. Dashes is true if the line has a "--".
	IsCommand, Dashes bool
	// LookupEnv returns the value of an environment variable, and whether the variable is set.
	LookupEnv func(name string) (value string, ok bool)
	// Write writes the result of a command to stdout.
	Write func(ctx context.Context, text string) error
	// Err is the first error, or nil.
	Err error

	waiting *Flag     // the flag in the last argument, if its value is missing; otherwise nil
	notes   *[]string // the notes, which all copies of the line share
}

// NewLine returns a line of the command c that has not read any arguments yet.
func NewLine(c *Command) *Line {
	return &Line{Command: c, Flags: c.Flags, notes: new([]string)}
}

// Note adds a note, with the prefix "note: ".
func (l *Line) Note(format string, args ...any) {
	*l.notes = append(*l.notes, "note: "+fmt.Sprintf(format, args...))
}

// Notes returns the notes for the user, in the order of the calls of Note.
func (l *Line) Notes() []string { return *l.notes }

// Fail sets l.Err to err, unless there is an earlier error.
func (l *Line) Fail(err error) { l.Err = cmp.Or(l.Err, err) }

// Add adds a setting of f to l. If text is invalid, Add passes the error to Fail.
func (l *Line) Add(f *Flag, text, origin string, rank Rank) {
	given, err := l.With(f, text, origin, rank)
	l.Settings = given
	l.Fail(err)
}

// HasTyped reports whether the flag called name is on the command line.
func (l *Line) HasTyped(name string) bool {
	return slices.ContainsFunc(l.Typed, func(s Setting) bool { return s.Flag.Name == name })
}

// Environ sets flags from their environment variables. It skips flags that are set already, and flags that do
// not apply to kinds. It ignores an empty variable.
//
// A variable for a flag without HasVariable is an error. Otherwise the wait would continue without the setting,
// and an ignored POLL_UNTIL would end in SUCCESS.
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

// Getenv returns the value of the environment variable name, or "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.LookupEnv(name)
	return value
}

// Parse sorts args into flags and operands, and stops at "--". In the main command, the first operand that is
// not a URL starts a program, and all later arguments belong to the program. After an error, Parse collects only
// flags of the main command: operands could be values of an unknown flag.
func (l *Line) Parse(args []string) {
	onlyURLs := l.Command.Name == ""
	for len(args) > 0 {
		word := args[0]
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
			return
		default:
			l.Operands = append(l.Operands, word)
		}
	}
}

// give adds f with its value to the flags that were typed.
func (l *Line) give(f *Flag, value string) { l.Typed = append(l.Typed, Setting{Flag: f, Text: value}) }

// long reads word, an argument such as --name or --name=value without its dashes. It returns args without the
// arguments that it has used.
func (l *Line) long(word string, args []string) []string {
	name, value, glued := strings.Cut(word, "=")
	f := l.Flags.Lookup(name)
	switch {
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

// short reads word, an argument such as -q, -XPOST, -d@file or -sSfL without its dash. As in curl, a letter that
// needs a value takes the rest of the argument, or the next argument. short returns args without the arguments
// that it has used.
func (l *Line) short(word string, args []string) []string {
	// Without this test, -until would be -u ntil, and -data would be -d ata.
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

// next takes the first of args as the value of f, and returns the rest. It reports an error if args are empty,
// or if the first is a known long flag. spelled is the flag as it was typed.
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

// unknown returns the error for the unknown flag spelled, with a hint. If the line has no URL, the flag may be
// meant for a command. args are the arguments that follow.
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

// HasScheme reports whether word is a URL with any scheme.
func HasScheme(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	isLetter := func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
	inScheme := func(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.' }
	return found && scheme != "" && isLetter(rune(scheme[0])) && strings.TrimFunc(scheme, inScheme) == ""
}
