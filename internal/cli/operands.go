package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// place takes the operands, and returns the kinds of what they are.
func (s *Spec) place() (argv.Kinds, error) {
	switch rest := s.Rest; {
	case len(s.Operands) > 0 && s.Dashes:
		s.Then = rest
	case len(s.Operands) == 0 && s.Dashes && len(rest) > 0 && argv.HasScheme(rest[0]):
		s.Operands = rest
	default:
		s.Operands, s.IsCommand = append(s.Operands, rest...), len(s.Operands) == 0 && len(rest) > 0
	}
	if s.IsCommand {
		return ofCommand, nil
	}
	kinds := argv.Kinds(0)
	for i, operand := range s.Operands {
		if !argv.HasScheme(operand) {
			return ofAll, tooMany(s.Operands, i, "only URLs and flags may follow a URL, or -- and a program")
		}
		kind, err := kindOfURL(operand)
		if err != nil {
			return ofAll, err
		}
		kinds |= bitOf(kind)
	}
	return cmp.Or(kinds, ofAll), nil
}

// bitOf returns the kind of a target as a bit.
func bitOf(kind status.Kind) argv.Kinds { return 1 << kind }

// kindOfURL returns the kind of a URL by its scheme.
func kindOfURL(text string) (status.Kind, error) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return status.KindHTTP, nil
	case "tcp":
		return status.KindTCP, nil
	}
	if !hasScheme {
		return 0, argv.Usagef("the URL has no scheme").Hint("it begins with http://, https:// or tcp://")
	}
	return 0, argv.Usagef("%s:// cannot be waited for: poll knows http, https and tcp", scheme).Advise("url " + strings.ToLower(scheme))
}

// unfit says that a flag is about another kind of target.
func unfit(f *argv.Flag, kinds argv.Kinds) error {
	if kinds == ofCommand {
		return misfit(f, "command")
	}
	return misfit(f, "url")
}

// misfit says why a wait of some kind cannot have a flag.
func misfit(f *argv.Flag, kind string) error {
	why, hint := argv.Advice("misfit " + f.Name + " " + kind)
	return argv.Usagef("%s %s", f.Origin(), why).Hint("%s", hint)
}

// refuse refuses the first of some flags that a wait cannot have if it is of some kind. A variable
// that does not fit is for other waits, and is dropped.
func (s *Spec) refuse(is bool, kind string, flags ...string) error {
	for _, name := range flags {
		if f := s.Flag(name); is && f.Given() && !s.DropVariable(name) {
			return misfit(f, kind)
		}
	}
	return nil
}

// tooMany refuses the operand at an index. A misplaced operand may be a secret, so the error
// gives its position only.
func tooMany(operands []string, index int, why string) *argv.UsageError {
	return argv.Usagef("operand %d is one too many: %s", index+1, why).Advise("word " + operands[index])
}

// programName returns the first word of a command as it may be shown: one that
// a shell would have to quote can hold a secret.
func programName(word string) string {
	if find(`^[\w./+-]+$`, word) != nil {
		return word
	}
	return "COMMAND"
}

// isForShell reports whether a word is one with which a shell joins commands or
// redirects their output.
func isForShell(word string) bool {
	return slices.Contains([]string{"|", "|&", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}, word)
}

// misplaced returns the index of the first word of a command that was meant for poll or for a
// shell, 0 for none, the word as it may be shown, and what it is not.
func (s *Spec) misplaced() (i int, name, why string) {
	for i, word := range s.Operands {
		name, _, _ := strings.Cut(word, "=")
		f := s.Flag(strings.TrimPrefix(name, "--"))
		switch {
		case !s.IsCommand || i == 0:
		case f != nil && f.Distinctive && strings.HasPrefix(name, "--"):
			return i, name, ", and no flag of poll"
		case isForShell(word):
			return i, word, ": no shell reads it"
		}
	}
	return 0, "", ""
}

// refuseMisplaced refuses a word after a command that was meant for poll or a shell: the
// command would take or ignore it. After "--" every word is the command's.
func (s *Spec) refuseMisplaced() error {
	i, name, why := s.misplaced()
	if i == 0 {
		return nil
	}
	program, setting := programName(s.Operands[0]), name+" ..."
	err := argv.Usagef("%s comes after the command, so it is an argument of it%s", name, why)
	if f := s.Flag(strings.TrimPrefix(name, "--")); f == nil {
		err.Hint("poll -- sh -c '%s ... %s'", program, setting)
	} else {
		if s.Operands[i] == name && !f.IsSwitch() && i+1 < len(s.Operands) {
			setting = settingOf(name, s.Operands[i+1])
		}
		err.Hint("poll %s -- %s ...", setting, program)
	}
	return err.Hint("if it is meant for %s: poll -- %s ...", program, program)
}

// doubts are what of a command line and the environment may mean something else than it seems to.
func (w World) doubts(s *Spec) (notes []string) {
	notes = slices.Compact(s.Notes)
	if i, name, why := s.misplaced(); i > 0 {
		notes = append(notes, fmt.Sprintf("note: %s stands behind --, so it is an argument of the command%s", name, why))
	}
	others := []string{"POLL_ATTEMPT", "POLL_ELAPSED", "POLL_STATUS", killAfter, shareSecret}
	for _, variable := range w.Environ {
		variable, _, _ = strings.Cut(variable, "=")
		name, ours := strings.CutPrefix(variable, "POLL_")
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if !ours || s.Flag(name) != nil || slices.Contains(others, variable) {
			continue
		}
		if meant := words.Nearest(name, s.Command.Flags.Shown()); meant != "" {
			notes = append(notes, fmt.Sprintf("note: %s sets nothing: did you mean %s?", variable, s.Flag(meant).Variable()))
		}
	}
	return notes
}

// refuseURL refuses a URL with what nobody means to be sent: white space and invisible
// characters, variables that no shell has filled in, and what curl or --targets would.
func refuseURL(operand string) error {
	isOdd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{[$", r) }
	if !strings.ContainsFunc(operand, isOdd) {
		return nil
	}
	wrong, hint := argv.Advice("address " + operand)
	if wrong == "" {
		return nil
	}
	return argv.Usagef("the URL %s", wrong).Hint("%s", hint)
}

// checkCommand refuses the words of a command that were meant as something else.
func (w World) checkCommand(s *Spec) error {
	word := s.Operands[0]
	switch {
	case s.Dashes:
		return nil
	case w.find(word) != nil:
		return argv.Usagef("the subcommand %s comes first, and its flags after it", word).
			Hint("a program of that name is run with: poll ... -- %s", word)
	}
	return s.refuseMisplaced()
}

// checkProgram reports whether a program that does not exist was meant as something
// else: a URL without its scheme, or something that is never a program. A program
// that only cannot be run is returned as missing, with advice; one that cannot be given
// its arguments is an error, too.
func (w World) checkProgram(c poll.Command) (missing *status.Failure, advice string, err error) {
	wrong := c.Check()
	if wrong == nil {
		return nil, "", nil
	}
	missing, cannotRun := errors.AsType[*status.Failure](wrong)
	switch err := refuseNoProgram(c.Args); {
	case err != nil:
		return nil, "", err
	case !cannotRun:
		return nil, "", argv.Usagef("%w", wrong)
	case missing.Kind == status.FailureNotFound && !errors.Is(missing.Err, exec.ErrDot):
		advice = w.adviceOn(c.Args[0])
	}
	return missing, advice, nil
}

// refuseNoProgram refuses a word in place of a program that cannot be one and may
// hold a secret. It returns nil for any other.
func refuseNoProgram(args []string) error {
	err := argv.Usagef("operand 1 is neither a URL nor a program")
	if len(args) == 2 {
		err.Advise("words " + strings.Join(args, " "))
	}
	if len(err.Hints) == 0 {
		err.Advise("word " + args[0])
	}
	if parts := strings.Fields(args[0]); len(err.Hints) == 0 && len(parts) > 1 {
		if _, missing := exec.LookPath(parts[0]); missing == nil || slices.ContainsFunc(parts, isForShell) {
			err.Hint("a command is not run by a shell: poll -- sh -c '%s ...'", programName(parts[0]))
		}
	}
	if len(err.Hints) == 0 {
		return nil
	}
	return err
}

// adviceOn returns advice about a program that was not found.
func (w World) adviceOn(program string) string {
	meant := words.Nearest(program, w.commandNames())
	_, hint := argv.Advice("command " + program)
	switch {
	case hint != "" || filepath.Base(program) != program:
		return hint
	case meant != "":
		return "did you mean the subcommand: poll " + meant
	}
	return "no directory in PATH has a program of that name"
}
