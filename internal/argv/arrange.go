package argv

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/words"
)

// Words are a command line in the order that package flag needs: flags as --name=value, then
// operands.
type Words struct {
	Flags, Operands []string
	Rest            []string // the command, or what follows --
	Dashes          bool     // -- was there
	Waiting         *Flag    // the flag that the last word is, if its value is missing
	Err             error    // the first one
}

// Arrange sorts args. For the main command, the first operand that is no URL begins a program,
// whose words are its own. After an error it looks for flags only: no other word is what it seems.
func (c *Command) Arrange(args []string) *Words {
	onlyURLs := c.Name == ""
	w := &Words{}
	for len(args) > 0 {
		word := args[0]
		switch args = args[1:]; {
		case word == "--":
			w.Dashes, w.Rest = true, args
			return w
		case strings.HasPrefix(word, "--"):
			args = c.long(w, word[2:], args)
		case len(word) > 1 && word[0] == '-':
			args = c.short(w, word[1:], args)
		case onlyURLs && w.Err != nil:
		case onlyURLs && !HasScheme(word):
			w.Rest = append([]string{word}, args...)
			return w
		default:
			w.Operands = append(w.Operands, word)
		}
	}
	return w
}

func (w *Words) fail(err error) {
	if w.Err == nil {
		w.Err = err
	}
}

func (w *Words) give(f *Flag, value string) { w.Flags = append(w.Flags, "--"+f.Name+"="+value) }

// Give reports whether a flag is among the words.
func (w *Words) Give(f *Flag) bool {
	return slices.ContainsFunc(w.Flags, func(s string) bool { return strings.HasPrefix(s, "--"+f.Name+"=") })
}

// long reads a word such as --name or --name=value, without its hyphens.
func (c *Command) long(w *Words, word string, args []string) []string {
	name, value, glued := strings.Cut(word, "=")
	f := c.Flags.Lookup(name)
	switch {
	case f == nil || len(name) == 1:
		w.fail(c.unknown("--" + name))
	case glued:
		w.give(f, value)
	case f.IsSwitch():
		w.give(f, "true")
	default:
		return c.next(w, f, "--"+name, args)
	}
	return args
}

// short reads a word such as -q, -XPOST, -d@file or -sSfL, as curl does: a letter that takes a
// value takes the rest of the word, or the next one.
func (c *Command) short(w *Words, word string, args []string) []string {
	// Otherwise -until would be -u ntil, and -data would be -d ata.
	if name, _, _ := strings.Cut(word, "="); len(name) > 1 && c.Flags.Lookup(name) != nil {
		w.fail(Usagef("unknown flag -%s", name).Hint("did you mean --%s?", name))
		return args
	}
	for word != "" {
		_, size := utf8.DecodeRuneInString(word)
		letter, rest := word[:size], word[size:]
		f := c.Flags.Lookup(letter)
		switch {
		case f == nil:
			w.fail(c.unknown("-" + strings.ToValidUTF8(letter, "?")))
			return args
		case f.IsSwitch():
			w.give(f, "true")
		case rest == "":
			return c.next(w, f, "-"+letter, args)
		default:
			w.give(f, strings.TrimPrefix(rest, "="))
			return args
		}
		word = rest
	}
	return args
}

// next takes the next word as the value of f, unless that is plainly another flag.
func (c *Command) next(w *Words, f *Flag, spelled string, args []string) []string {
	if len(args) == 0 {
		w.Waiting = f
		w.fail(Usagef("%s needs a value: %s %s", spelled, spelled, f.Value))
		return nil
	}
	if name, _, _ := strings.Cut(args[0], "="); strings.HasPrefix(name, "--") && c.Flags.Lookup(name[2:]) != nil {
		w.fail(Usagef("%s needs a value, and %s is a flag", spelled, name))
		return args
	}
	w.give(f, args[0])
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
