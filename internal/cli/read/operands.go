package read

import (
	"cmp"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// Classify determines whether the operands of l are URLs, a command, or URLs followed by "--" and a program to run
// after the wait. It stores them in the corresponding fields of l, and returns the kinds of targets. For a
// malformed line, it returns a usage error, and [OfAll] as the kinds.
func Classify(l *argv.Line) (argv.Kinds, error) {
	switch rest := l.Rest; {
	case len(l.Operands) > 0 && l.Dashes && len(rest) == 0 && argv.HasScheme(l.Operands[0]):
		return OfAll, argv.Usagef("no program follows --").Hint("is a variable of the shell empty? Leave -- out if no program is to be run")
	case len(l.Operands) > 0 && l.Dashes:
		l.Then = rest
	case len(l.Operands) == 0 && l.Dashes && len(rest) > 0 && argv.HasScheme(rest[0]):
		l.Operands = rest
	default:
		l.Operands, l.IsCommand = append(l.Operands, rest...), len(l.Operands) == 0 && len(rest) > 0
	}
	if l.IsCommand {
		return ofCommand, nil
	}
	kinds := argv.Kinds(0)
	for i, operand := range l.Operands {
		if !argv.HasScheme(operand) {
			return OfAll, TooMany(l.Operands, i, "only URLs and flags may follow a URL, or -- and a program")
		}
		kind, err := kindOfURL(operand)
		if err != nil {
			return OfAll, err
		}
		kinds |= bitOf(kind)
	}
	return cmp.Or(kinds, OfAll), nil
}

// bitOf returns the bit for kind in [argv.Kinds].
func bitOf(kind status.Kind) argv.Kinds { return 1 << kind }

// kindOfURL returns the kind of target that the URL's scheme stands for. An unknown or missing scheme is a usage
// error.
func kindOfURL(text string) (status.Kind, error) {
	scheme, _, hasScheme := strings.Cut(text, "://")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return status.KindHTTP, nil
	case "tcp":
		return status.KindTCP, nil
	}
	if !hasScheme {
		return 0, argv.Usagef("the URL has no scheme").Hint("begin the URL with http://, https:// or tcp://")
	}
	return 0, argv.Usagef("%s:// is not a scheme of poll; the schemes are http, https and tcp", scheme).Advise("url " + strings.ToLower(scheme))
}

// resolved returns a copy of s with the settings that apply to targets of the given kinds. It drops settings that
// are overridden by other settings, and environment variables that do not apply to this kind of wait. It returns a
// usage error if a setting of rank least or higher does not apply. If inEntries is true, a flag that another flag
// needs may be set by the entries of a targets file.
func (s *Run) resolved(kinds argv.Kinds, least argv.Rank, inEntries bool) (*Run, error) {
	check := argv.Check{Kinds: kinds, Word: "url", Least: least, Limits: s.limits()}
	if kinds == ofCommand {
		check.Word = "command"
	}
	if inEntries {
		check.Entries = s.Flags
	}
	settings, err := s.Resolved(check)
	return s.With(settings, s.preset), err
}

// Complete returns a copy of s that includes the settings of its preset, after checking it for targets of the
// given kinds. It may read preset files.
func (p Env) Complete(s *Run, kinds argv.Kinds) (*Run, error) {
	if s = s.With(s.Settings, nil); s.Preset != "" {
		var err error
		if s, err = p.WithPreset(s, kinds, argv.Preset); err != nil {
			return nil, err
		}
	}
	if n := len(s.Operands); s.Each != "" && !s.IsCommand && n > 1 {
		return nil, argv.Usagef("%s is about one list, and %d URLs are given", s.Origin("each"), n).Hint("one after the other: poll ... && poll ...")
	}
	if s.IsCommand {
		if err := p.checkCommand(s); err != nil {
			return nil, err
		}
	}
	checked, err := s.resolved(kinds, argv.Variable, s.Targets != "")
	if err != nil && s.IsCommand {
		err = cmp.Or(RefuseNoProgram(s.Operands), err)
	}
	return checked, err
}

// limits returns the kinds of wait that exclude flags. The field Holds reports whether s is a wait of that kind.
func (s *Run) limits() []argv.Limit {
	isList, isSeveral := s.Each != "", s.IsSeveral()
	isFilled := s.Targets != "" && s.hasPlaceholder()
	program := ""
	if len(s.Then) > 0 {
		program = ProgramName(s.Then[0])
	}
	return []argv.Limit{
		{Holds: program != "", Kind: program, Flags: "print json"},
		{Holds: isList && s.IsCommand && s.HTTP.Next != "none", Kind: "command", Flags: "next"},
		{Holds: isList && isFilled, Kind: "batches", Flags: "learn"},
		{Holds: isList && !isFilled, Kind: "list", Flags: "batch"},
		{Holds: isList, Kind: "list", Flags: "gone started-at finished-at"},
		{Holds: s.HTTP.Stream, Kind: "stream", Flags: "each share strict retry-after"},
		{Holds: isSeveral && !s.IsLogged(), Kind: "several", Flags: "name"},
		{Holds: isSeveral, Kind: "several", Flags: "foreground stdin pass-exit-code result-file show-stderr"},
	}
}

// TooMany returns the usage error for an unexpected operand, operands[index]. The message contains only the
// operand's position and why, because a misplaced operand may be a secret.
func TooMany(operands []string, index int, why string) *argv.UsageError {
	return argv.Usagef("unexpected operand %d: %s", index+1, why).
		Advise("words "+strings.Join(operands[max(0, index-1):index+1], " "), "word "+operands[index])
}

// ProgramName returns word, the name of a program, as messages may show it. It returns "COMMAND" if word contains
// characters that a shell would interpret, because then word may be more than a name, and may contain a secret.
func ProgramName(word string) string {
	if find(`^[\w./+-]+$`, word) != nil {
		return word
	}
	return "COMMAND"
}

// Misplaced returns the first argument of the command that was probably meant as a flag of poll, because hardly
// any other program has a flag with that name. It returns "" if no argument looks like that.
func (s *Run) Misplaced() string {
	for _, word := range s.Operands[1:] {
		name, _, _ := strings.Cut(word, "=")
		f := s.Flags.Named(strings.TrimPrefix(name, "--"))
		if f != nil && f.Distinctive && strings.HasPrefix(name, "--") {
			return name
		}
	}
	return ""
}

// checkCommand returns a usage error if the operands were probably not meant as a command, because they contain a
// subcommand, the value of a switch, or a flag of poll. It accepts any operands after "--".
func (p Env) checkCommand(s *Run) error {
	word, line := s.Operands[0], strings.Join(s.Operands, " ")
	isValue, isStray := s.isValueOrStray()
	switch {
	case slices.Contains(s.Operands, ":::") && s.hasPlaceholder() && find(`\bparallel\b`, line) == nil:
		return argv.Usagef("poll does not fill {} with the words after :::").Hint(`printf '%%s\n' 1 2 3 | poll --targets - -- COMMAND {}`)
	case s.Dashes:
		return nil
	case s.Switch != "" && (isValue || isStray):
		return argv.Usagef("%s takes no value, so operand 1 would be a program", s.Switch).
			Advise("switch " + s.Typed[len(s.Typed)-1].Flag.Name + " " + word)
	case slices.Contains(p.Commands, word):
		return argv.Usagef("the subcommand %s comes first, and its flags after it", word).
			Hint("to run a program of that name: poll ... -- %s", word)
	}
	if wrong, hint := argv.Advice("meant " + line); wrong != "" {
		return argv.Usagef("operand 1 %s", wrong).Hint("%s", hint)
	}
	if isStray {
		before := ""
		if n := len(s.Typed); n > 0 {
			before = "after " + s.Typed[n-1].Flag.Name + " " + s.Typed[n-1].Text + "\n" + line
		}
		return argv.Usagef("operand 1 is neither a URL nor a program").Advise(before, "words "+line, "word "+word, "stray URL")
	}
	name, program := s.Misplaced(), ProgramName(word)
	if name == "" {
		return nil
	}
	if err := RefuseNoProgram(s.Operands[:1]); err != nil {
		return err
	}
	wrong := argv.Usagef("%s comes after the command, so it is an argument of the command, not a flag of poll", name).Advise("middle " + word)
	if _, missing := exec.LookPath(word); missing != nil && len(s.Typed) > 0 {
		wrong.Hint("if operand 1 belongs to the value of --%s, quote the whole value", s.Typed[len(s.Typed)-1].Flag.Name)
	}
	return wrong.Hint("poll %s ... -- %s ...", name, program).Hint("if the flag is for %s: poll -- %s ...", program, program)
}

// isValueOrStray reports whether the program of the command was probably meant as the value of a flag. This is likely
// if no such program exists, and if in addition the program's name looks like a number, a duration or JSON, or a
// later argument is a flag of poll or "--". The result isStray reports whether no such program exists, and a URL
// follows the program's name.
func (s *Run) isValueOrStray() (isValue, isStray bool) {
	_, missing := exec.LookPath(s.Operands[0])
	isLiteral := find(`^(?:\d[\d.]*(?:ms|s|m|h)?|[{\["].*)$`, s.Operands[0]) != nil
	isURL := find(`^(?:[^-]\S* )*?https?://`, strings.Join(s.Operands[1:], " ")) != nil
	return missing != nil && (isLiteral || s.Misplaced() != "" || slices.Contains(s.Operands, "--")), missing != nil && isURL
}

// CheckProgram checks whether the command c can run. If the program cannot run, it returns the reason as missing,
// and possibly a hint as advice. It returns a usage error instead if the program's name was probably meant as a
// URL or a flag, or if the arguments are invalid.
func (p Env) CheckProgram(c poll.Command) (missing *status.Failure, advice string, err error) {
	wrong := c.Plan().Invalid
	if wrong == nil {
		return nil, "", nil
	}
	missing, cannotRun := errors.AsType[*status.Failure](wrong)
	switch err := RefuseNoProgram(c.Args); {
	case err != nil:
		return nil, "", err
	case !cannotRun:
		return nil, "", argv.Usagef("%w", wrong)
	case missing.Kind == status.FailureNotFound && !errors.Is(missing.Err, exec.ErrDot):
		advice = p.adviceOn(c.Args[0])
	}
	return missing, advice, nil
}

// RefuseNoProgram returns a usage error if args[0] is clearly not a program, such as a header. Otherwise it
// returns nil. The error does not contain args[0], which may be a secret.
func RefuseNoProgram(args []string) error {
	err := argv.Usagef("operand 1 is neither a URL nor a program").Advise("words "+strings.Join(args, " "), "word "+args[0])
	if parts := strings.Fields(args[0]); len(err.Hints) == 0 && len(parts) > 1 {
		if _, missing := exec.LookPath(parts[0]); missing == nil {
			err.Hint("no shell runs a command: poll -- sh -c '%s ...'", ProgramName(parts[0]))
		}
	}
	if len(err.Hints) == 0 {
		return nil
	}
	return err
}

// adviceOn returns a hint for the user on a program that was not found.
func (p Env) adviceOn(program string) string {
	meant := words.Nearest(program, p.Commands)
	_, hint := argv.Advice("command " + program)
	switch {
	case hint != "" || filepath.Base(program) != program:
		return hint
	case meant != "":
		return "did you mean the subcommand: poll " + meant
	}
	return "no directory in PATH has a program of that name; to wait for a file: poll -- test -e FILE; to run one: ./FILE"
}
