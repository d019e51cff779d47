package argv

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// A UsageError is a command line that cannot be meant: nothing was done.
type UsageError struct {
	Err   error
	Hints []string
}

// Usagef makes a usage error, which keeps the hints of those that it wraps.
func Usagef(format string, args ...any) *UsageError {
	e := &UsageError{Err: fmt.Errorf(format, args...)}
	if inner, ok := errors.AsType[*UsageError](errors.Unwrap(e.Err)); ok {
		e.Hints = inner.Hints
	}
	return e
}

// Hint adds what to do about it.
func (e *UsageError) Hint(format string, args ...any) *UsageError {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}

// Meant adds which of the candidates a word may have been meant to be, if one is
// near.
func (e *UsageError) Meant(word string, candidates []string) *UsageError {
	if meant := words.Nearest(word, candidates); meant != "" {
		return e.Hint("did you mean %s?", meant)
	}
	return e
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// IsUsage reports whether an error is one of the command line.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

func (r *reader) unknownFlag(spelled string) error {
	err := Usagef("unknown flag %s", spelled)
	name, program := strings.TrimLeft(spelled, "-"), r.program.Name
	if meant := r.program.Synonyms[name]; r.command.Flags.Lookup(meant) != nil {
		return err.Hint("%s calls it --%s", program, meant)
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
	if r.command != r.program.Main {
		return err.Hint("%s %s --help lists its flags", program, r.command.Name)
	}
	return err.Hint("%[1]s --help lists the flags; a command's own flags come after it: %[1]s [flags] -- COMMAND %[2]s", program, spelled)
}

// refuseEmpty refuses an empty value where that means nothing. It is probably a
// shell variable that is not set, and without the flag's value something else
// would be done than was asked for.
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

// tooMany refuses the operand at an index. Where it does not belong an operand
// may be a secret, so it is told by its place and by what of it is none.
func (p *Program) tooMany(operands []string, index int, why string) *UsageError {
	harmless, hint := p.Describe(operands[index])
	err := Usagef("%s is one too many: %s", NameOperand(index, cmp.Or(harmless, FlagName(operands[index]))), why)
	if hint != "" {
		err.Hint("%s", hint)
	}
	return err
}

// NameOperand names the operand at an index by what of it is harmless.
func NameOperand(index int, harmless string) string {
	if harmless == "" {
		return fmt.Sprintf("operand %d", index+1)
	}
	return fmt.Sprintf("operand %d (%s)", index+1, harmless)
}

// FlagName is the part of a flag that is not its value, "" for any other word.
func FlagName(word string) string {
	switch name, _, _ := strings.Cut(word, "="); {
	case !isFlag(word):
		return ""
	case strings.HasPrefix(word, "--"):
		return name
	}
	return string([]rune(word)[:2]) // what follows may be its value
}

// TooMany refuses the operand at an index.
func (l *Line) TooMany(index int, why string) *UsageError {
	return l.program.tooMany(l.Operands, index, why)
}

// refuseMisplaced refuses what stands among the words of a command though the
// program or a shell was meant to read it. The command would take it, or ignore
// it, and something else would be done than was asked for. Behind "--" every word
// is the command's.
func (r *reader) refuseMisplaced(args []string) error {
	var found, forShell string
	var ours []string
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
	if found == "" {
		return nil
	}
	return r.misplaced(found, forShell, ours, ProgramName(args[0]))
}

// misplaced says which word should not come after the program, and how the line
// was probably meant.
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

// isMisplaced reports whether a flag with that value, after a command, was meant
// for the program.
func (f *Flag) isMisplaced(value string) bool {
	if !f.Distinctive || f.Offers == nil {
		return f.Distinctive
	}
	return slices.ContainsFunc(f.Offers(), func(c Candidate) bool { return c.Word == value })
}

// IsForShell reports whether a word is one by which a shell joins commands or
// directs their output.
func IsForShell(word string) bool {
	return slices.Contains([]string{"|", "|&", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}, word)
}

// ProgramName is the first word of a command as it may be shown: what a shell
// would not take as it is can hold a secret.
func ProgramName(word string) string {
	if regexp.MustCompile(`^[\w./+-]+$`).MatchString(word) {
		return word
	}
	return "COMMAND"
}

// shellQuoted writes a word so that a shell reads it unchanged; "" stays.
func shellQuoted(word string) string {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	if strings.TrimFunc(word, isDigit) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// A Conflict is two flags that cannot both be meant.
type Conflict struct {
	Flag, Other string
	// Unless is a value of Other with which the two go together; "" is none.
	Unless string
	// Only is the one value of Other with which they do not; "" is any.
	Only string
}

// Conflicting are the conflicts of a flag with several others.
func Conflicting(flag string, others ...string) []Conflict {
	var list []Conflict
	for _, other := range others {
		list = append(list, Conflict{Flag: flag, Other: other})
	}
	return list
}

// refuseConflicts refuses two flags that contradict each other. Where one was typed
// and the other is only in the environment, the one that was typed is meant.
func (l *Line) refuseConflicts() error {
	for _, c := range l.command.Conflicts {
		one, other := l.Last(c.Flag), l.Last(c.Other)
		switch {
		case one == nil || other == nil || one.Off() || other.Off():
		case other.Value == c.Unless || c.Only != "" && other.Value != c.Only:
		case one.Variable && !other.Variable:
			l.dropVariable(c.Flag)
		case other.Variable && !one.Variable:
			l.dropVariable(c.Other)
		default:
			return Usagef("%s and %s contradict each other: give one of them", one.spelled(), other.spelled())
		}
	}
	return nil
}

func (l *Line) dropVariable(name string) {
	l.Given = slices.DeleteFunc(l.Given, func(g Given) bool { return g.Variable && g.Flag.Name == name })
}

// spelled names a flag, with its value where that is one of a few words.
func (g *Given) spelled() string {
	if g.Flag.Words != nil {
		return g.Origin + " " + g.Value
	}
	return g.Origin
}
