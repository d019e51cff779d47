package argv

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pollcli/poll/words"
)

// A UsageError is an error in the command line: nothing was done.
type UsageError struct {
	Err   error
	Hints []string
}

// Usagef makes a usage error, which keeps the hints of the errors it wraps.
func Usagef(format string, args ...any) *UsageError {
	e := &UsageError{Err: fmt.Errorf(format, args...)}
	if inner, ok := errors.AsType[*UsageError](errors.Unwrap(e.Err)); ok {
		e.Hints = inner.Hints
	}
	return e
}

// Hint adds advice on what to do.
func (e *UsageError) Hint(format string, args ...any) *UsageError {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}

// Meant adds a hint to the candidate that word was probably meant to be, if one
// is close.
func (e *UsageError) Meant(word string, candidates []string) *UsageError {
	if meant := words.Nearest(word, candidates); meant != "" {
		return e.Hint("did you mean %s?", meant)
	}
	return e
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

func (r *reader) unknownFlag(spelled string) error {
	err := Usagef("unknown flag %s", spelled)
	name, program := strings.TrimLeft(spelled, "-"), r.program
	if meant := program.Synonyms[name]; r.command.Flags.Lookup(meant) != nil {
		return err.Hint("%s calls it --%s", program.Name, meant)
	}
	if instead := program.Foreign[name]; instead != "" && r.command == program.Main {
		return err.Hint("%s", instead)
	}
	var shown []string
	for _, f := range r.command.Flags {
		if !f.Hidden {
			shown = append(shown, f.Name)
		}
	}
	if meant := words.Nearest(name, shown); meant != "" {
		return err.Hint("did you mean --%s?", meant)
	}
	if r.command != program.Main {
		return err.Hint("%s %s --help lists its flags", program.Name, r.command.Name)
	}
	return err.Hint("%[1]s --help lists the flags; a command's own flags come after it: %[1]s [flags] -- COMMAND %[2]s", program.Name, spelled)
}

// refuseEmpty refuses an empty value for a flag that has no use for it. It is
// probably an unset shell variable, and to ignore the flag would be to do
// something other than was asked for.
func (l *Line) refuseEmpty() error {
	for _, g := range l.Given {
		if g.Value == "" && !g.Flag.IsSwitch() && !g.Flag.MayBeEmpty {
			return Usagef("%s is given an empty value", g.Origin).
				Hint("leave the flag out, or set the variable that its value is taken from")
		}
	}
	return nil
}

func (l *Line) refuseSurplus() error {
	c := l.command
	if c.MaxOperands == Any || len(l.Operands) <= c.MaxOperands {
		return nil
	}
	if c.MaxOperands > 0 {
		return l.program.tooMany(l.Operands, c.MaxOperands, c.Name+" "+c.Surplus)
	}
	return l.program.tooMany(l.Operands, 0, c.Name+" takes flags only").
		Hint("%s %s --help lists them", l.program.Name, c.Name)
}

// tooMany refuses the operand at an index. A misplaced operand may be a secret,
// so the error gives its position and only its harmless part.
func (p *Program) tooMany(operands []string, index int, why string) *UsageError {
	harmless, hint := p.Describe(operands[index])
	err := Usagef("%s is one too many: %s", NameOperand(index, cmp.Or(harmless, FlagName(operands[index]))), why)
	if hint != "" {
		err.Hint("%s", hint)
	}
	return err
}

// NameOperand names the operand at an index by its position and harmless part.
func NameOperand(index int, harmless string) string {
	if harmless == "" {
		return fmt.Sprintf("operand %d", index+1)
	}
	return fmt.Sprintf("operand %d (%s)", index+1, harmless)
}

// FlagName returns a flag without its value, "" for any other word.
func FlagName(word string) string {
	switch name, _, _ := strings.Cut(word, "="); {
	case !isFlag(word):
		return ""
	case strings.HasPrefix(word, "--"):
		return name
	}
	return string([]rune(word)[:2]) // the rest may be its value
}

// TooMany refuses the operand at an index.
func (l *Line) TooMany(index int, why string) *UsageError {
	return l.program.tooMany(l.Operands, index, why)
}

// refuseMisplaced refuses words after a command that were meant for this
// program or a shell. The command would take or ignore them, and something
// other than was asked for would be done. After "--" every word is the
// command's.
func (r *reader) refuseMisplaced(args []string) error {
	found, forShell, ours := r.misplacedWords(args)
	if found == "" {
		return nil
	}
	return r.misplaced(found, forShell, ours, ProgramName(args[0]))
}

// Misplaced returns the first word of a command behind "--" that is a flag of the program, or for
// a shell, "" for none.
func (l *Line) Misplaced() string {
	if !l.isProgram {
		return ""
	}
	found, _, _ := l.reader.misplacedWords(l.Operands)
	return found
}

// misplacedWords returns the first word after a command that was meant for this program or a
// shell, the first of those for a shell, and all flags of the program.
func (r *reader) misplacedWords(args []string) (found, forShell string, ours []string) {
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		if IsForShell(rest[0]) {
			found, forShell = cmp.Or(found, rest[0]), cmp.Or(forShell, rest[0])
			continue
		}
		name, value, glued := strings.Cut(rest[0], "=")
		f := r.command.Flags.Lookup(strings.TrimPrefix(name, "--"))
		if f == nil || !strings.HasPrefix(name, "--") {
			continue
		}
		takesNext := !f.IsSwitch() && !glued && len(rest) > 1
		if takesNext {
			value = rest[1]
		}
		if !f.isMisplaced(value) {
			continue
		}
		found, ours = cmp.Or(found, name), append(ours, name)
		if !f.IsSwitch() {
			ours = append(ours, cmp.Or(shellQuoted(value), f.Value))
		}
		if takesNext {
			rest = rest[1:]
		}
	}
	return found, forShell, ours
}

// misplaced reports the word that should not come after the program, and how
// the line was probably meant.
func (r *reader) misplaced(found, forShell string, ours []string, program string) error {
	err := Usagef("%s comes after the command, which would take it as its own argument", found)
	if found == forShell {
		err = Usagef("%s is shell syntax, and a command is not run by a shell", found)
	}
	self, command := r.program.Name+" ", program+" ..."
	if len(r.seen) > 0 {
		self += "... "
	}
	if forShell != "" {
		command = "sh -c '" + program + " ... " + forShell + " ...'"
	}
	return err.Hint("%s", self+strings.Join(append(ours, "-- "+command), " ")).
		Hint("if it is meant for %s: %s-- %s ...", program, self, program)
}

// isMisplaced reports whether a flag with that value, after a command, was
// meant for this program.
func (f *Flag) isMisplaced(value string) bool {
	if !f.Distinctive || f.Offers == nil {
		return f.Distinctive
	}
	return slices.ContainsFunc(f.Offers(), func(c Candidate) bool { return c.Word == value })
}

// IsForShell reports whether a word is one with which a shell joins commands or
// redirects their output.
func IsForShell(word string) bool {
	return slices.Contains([]string{"|", "|&", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}, word)
}

// ProgramName returns the first word of a command as it may be shown: one that
// a shell would have to quote can hold a secret.
func ProgramName(word string) string {
	if regexp.MustCompile(`^[\w./+-]+$`).MatchString(word) {
		return word
	}
	return "COMMAND"
}

// shellQuoted quotes a word for a shell if necessary; "" stays empty.
func shellQuoted(word string) string {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	if strings.TrimFunc(word, isDigit) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// A Conflict is a pair of flags that exclude each other.
type Conflict struct {
	Flag, Other string
	// Unless is a value of Other that does not conflict; "" means none.
	Unless string
	// Only is the one value of Other that conflicts; "" means any.
	Only string
}

// Conflicting returns the conflicts of a flag with several others.
func Conflicting(flag string, others ...string) []Conflict {
	var list []Conflict
	for _, other := range others {
		list = append(list, Conflict{Flag: flag, Other: other})
	}
	return list
}

// refuseConflicts refuses two flags that contradict each other. A flag that was
// typed overrides a conflicting one from the environment, and one of [Line.With] both.
func (l *Line) refuseConflicts() error {
	for _, c := range l.command.Conflicts {
		one, other := l.Last(c.Flag), l.Last(c.Other)
		switch {
		case one == nil || other == nil || one.Off() || other.Off():
		case other.Value == c.Unless || c.Only != "" && other.Value != c.Only:
		case one.rank() < other.rank():
			l.drop(c.Flag, one.rank())
		case other.rank() < one.rank():
			l.drop(c.Other, other.rank())
		default:
			return Usagef("%s and %s contradict each other: give one of them", one.spelled(), other.spelled())
		}
	}
	return nil
}

// rank orders settings that contradict each other: the higher one wins.
func (g *Given) rank() int {
	switch {
	case g.Variable:
		return 0
	case g.Inherited:
		return 1
	}
	return 2
}

func (l *Line) drop(name string, rank int) {
	l.Given = slices.DeleteFunc(l.Given, func(g Given) bool { return g.Flag.Name == name && g.rank() == rank })
}

// spelled names a flag, with its value where that is one of a few words.
func (g *Given) spelled() string {
	if g.Flag.Words != nil {
		return g.Origin + " " + g.Value
	}
	return g.Origin
}
