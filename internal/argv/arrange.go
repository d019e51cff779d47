package argv

import (
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/words"
)

// Arrange sorts args into flags and operands. For the main command, the first operand that is no
// URL begins a program, whose words are its own. After an error it looks for flags only: no other
// word is what it seems.
func (l *Line) Arrange(args []string) {
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
	f := l.Command.Flags.Lookup(name)
	switch {
	case f == nil || len(name) == 1:
		l.Fail(l.Command.unknown("--" + name))
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
	if name, _, _ := strings.Cut(word, "="); len(name) > 1 && l.Command.Flags.Lookup(name) != nil {
		l.Fail(Usagef("unknown flag -%s", name).Hint("did you mean --%s?", name))
		return args
	}
	for word != "" {
		_, size := utf8.DecodeRuneInString(word)
		letter, rest := word[:size], word[size:]
		f := l.Command.Flags.Lookup(letter)
		switch {
		case f == nil:
			l.Fail(l.Command.unknown("-" + strings.ToValidUTF8(letter, "?")))
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
	if name, _, _ := strings.Cut(args[0], "="); strings.HasPrefix(name, "--") && l.Command.Flags.Lookup(name[2:]) != nil {
		l.Fail(Usagef("%s needs a value, and %s is a flag", spelled, name))
		return args
	}
	l.give(f, args[0])
	return args[1:]
}

func (c *Command) unknown(spelled string) error {
	err, name := Usagef("unknown flag %s", spelled), strings.TrimLeft(spelled, "-")
	if hint := Advice("flag " + name); hint != "" {
		if _, meant, found := strings.Cut(hint, "poll calls it --"); !found || c.Flags.Lookup(meant) != nil {
			return err.Hint("%s", hint)
		}
	}
	if meant := words.Nearest(name, c.Flags.Shown()); meant != "" {
		return err.Hint("did you mean --%s?", meant)
	}
	if c.Name != "" {
		return err.Hint("poll %s --help lists its flags", c.Name)
	}
	return err.Hint("poll help all lists the flags; a command's own flags come after it: poll [flags] -- COMMAND %s", spelled)
}

// HasScheme reports whether a word is a URL, with any scheme.
func HasScheme(word string) bool {
	scheme, _, found := strings.Cut(word, "://")
	isLetter := func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
	inScheme := func(r rune) bool { return isLetter(r) || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.' }
	return found && scheme != "" && isLetter(rune(scheme[0])) && strings.TrimFunc(scheme, inScheme) == ""
}
