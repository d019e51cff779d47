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

// A Line is a command line that was read: the flags that are set, and the operands.
type Line struct {
	Settings
	Command *Command
	Flags   Flags
	// Typed are the flags that were typed, in their order.
	Typed []Word
	// Operands are those of the command, or a program and its arguments.
	Operands []string
	// Rest is what comes after "--", or after the first operand that is no URL and with it.
	Rest []string
	// Then is a program and its arguments that come after "--" behind operands.
	Then []string
	// IsCommand reports whether the operands are a program and its arguments, and Dashes
	// whether "--" comes before them.
	IsCommand, Dashes bool
	// LookupEnv returns the value of a variable, and whether it is set.
	LookupEnv func(name string) (value string, ok bool)
	// Write writes a command's result to stdout.
	Write func(ctx context.Context, text string) error
	// Err is the first error, nil for none.
	Err error

	waiting *Flag     // the flag that the last word is, if its value is missing
	notes   *[]string // of all copies of the line
}

// NewLine returns the line of a command, of which nothing is read yet.
func NewLine(c *Command) *Line {
	return &Line{Command: c, Flags: c.Flags, notes: new([]string)}
}

// Note adds to what else is to be said.
func (l *Line) Note(format string, args ...any) {
	*l.notes = append(*l.notes, "note: "+fmt.Sprintf(format, args...))
}

// Notes returns what else is to be said.
func (l *Line) Notes() []string { return *l.notes }

// A Word is a flag that was typed, with its value.
type Word struct {
	Flag *Flag
	Text string
}

// Fail keeps the first error.
func (l *Line) Fail(err error) { l.Err = cmp.Or(l.Err, err) }

// Add adds a setting, and keeps the error if it is the first.
func (l *Line) Add(f *Flag, text, origin string, rank Rank) {
	given, err := l.With(f, text, origin, rank)
	l.Settings = given
	l.Fail(err)
}

// HasTyped reports whether a flag of that name was typed.
func (l *Line) HasTyped(name string) bool {
	return slices.ContainsFunc(l.Typed, func(w Word) bool { return w.Flag.Name == name })
}

// Environ sets the flags that were not typed and are about one of kinds from their variables. It ignores an empty
// variable. The variable of a flag that has none is an error: the wait would continue without the setting, and an ignored
// POLL_UNTIL would end in SUCCESS.
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

// Getenv returns the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.LookupEnv(name)
	return value
}

// Parse sorts args into flags and operands. For the main command, the first operand that is no
// URL begins a program, whose words are its own. After an error it looks for flags only: no other
// word is what it seems.
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

func (l *Line) give(f *Flag, value string) { l.Typed = append(l.Typed, Word{f, value}) }

// long reads a word such as --name or --name=value, without its hyphens.
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

// short reads a word such as -q, -XPOST, -d@file or -sSfL, as curl does: a letter that takes a
// value takes the rest of the word, or the next one.
func (l *Line) short(word string, args []string) []string {
	// Otherwise -until would be -u ntil, and -data would be -d ata.
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

// next takes the next word as the value of f, unless that is plainly another flag.
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

// unknown refuses a flag. It may be meant for a command, unless there is a URL.
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

// HasScheme reports whether a word is a URL, with any scheme.
func HasScheme(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	isLetter := func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
	inScheme := func(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.' }
	return found && scheme != "" && isLetter(rune(scheme[0])) && strings.TrimFunc(scheme, inScheme) == ""
}
