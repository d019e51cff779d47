package read

import (
	"cmp"
	"errors"
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

// Classify splits the operands of l into URLs, a command, or URLs and a program that follows the wait. It
// stores them in l, and returns the kinds of targets. For a malformed line it returns a usage error and
// [OfAll].
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

// bitOf returns kind as a bit of [argv.Kinds].
func bitOf(kind status.Kind) argv.Kinds { return 1 << kind }

// kindOfURL returns the kind of the URL's scheme. An unknown or missing scheme is a usage error.
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
	return 0, argv.Usagef("%s:// is no scheme of poll, which knows http, https and tcp", scheme).Advise("url " + strings.ToLower(scheme))
}

// checkFor returns the check of settings with at least the rank least, for targets of the given kinds.
func checkFor(kinds argv.Kinds, least argv.Rank) argv.Check {
	word := "url"
	if kinds == ofCommand {
		word = "command"
	}
	return argv.Check{Kinds: kinds, Word: word, Least: least}
}

// checked returns a checked copy of s. The copy omits settings that are overridden, and environment variables
// that do not apply to this kind of wait.
func (s *Run) checked(kinds argv.Kinds) (*Run, error) {
	if err := s.refuseEach(); err != nil {
		return nil, err
	}
	check := checkFor(kinds, argv.Variable)
	check.Limits = s.limits()
	if s.Targets != "" {
		check.Entries = s.Flags
	}
	settings, err := s.Resolved(check)
	return s.With(settings, s.preset), err
}

// Complete returns a copy of s with the settings of its preset, checked for targets of the given kinds. It
// calls inTime to read the files of presets.
func (p Env) Complete(s *Run, kinds argv.Kinds, inTime func(s *Run, read func() (*Run, error)) (*Run, error)) (_ *Run, err error) {
	s = s.With(s.Settings, nil)
	if s.Preset != "" {
		if s, err = inTime(s, func() (*Run, error) { return p.WithPreset(s, kinds, argv.Preset) }); err != nil {
			return nil, err
		}
	}
	if !s.IsCommand {
		return s.checked(kinds)
	}
	if err := p.checkCommand(s); err != nil {
		return nil, err
	}
	checked, err := s.checked(kinds)
	if err != nil {
		err = cmp.Or(RefuseNoProgram(s.Operands), err)
	}
	return checked, err
}

// limits returns the kinds of wait that exclude some flags. Holds is true for the kinds of this wait.
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

// TooMany returns the usage error for operands[index]. The error only contains the position, since a misplaced
// operand may be a secret.
func TooMany(operands []string, index int, why string) *argv.UsageError {
	return argv.Usagef("unexpected operand %d: %s", index+1, why).
		Advise("words "+strings.Join(operands[max(0, index-1):index+1], " "), "word "+operands[index])
}

// ProgramName returns word, the program of a command, for messages. It returns "COMMAND" if a shell would have
// to quote word, since such a word may hold a secret.
func ProgramName(word string) string {
	if find(`^[\w./+-]+$`, word) != nil {
		return word
	}
	return "COMMAND"
}

// Misplaced returns the first argument of the command that is a distinctive flag of poll, or "". A distinctive
// flag hardly exists in other programs.
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

// refuseURL returns a usage error for a URL with characters that are never sent deliberately. Examples are
// white space, invisible characters, unexpanded shell variables, and braces for curl or --targets.
func refuseURL(operand string) error {
	isOdd := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{[$,", r)
	}
	_, rest, _ := strings.Cut(operand, "://")
	host, _, _ := strings.Cut(rest, "/")
	if !strings.ContainsFunc(operand, isOdd) && !strings.HasSuffix(host, ":") {
		return nil
	}
	wrong, hint := argv.Advice("address " + operand)
	if wrong == "" {
		return nil
	}
	return argv.Usagef("the URL %s", wrong).Hint("%s", hint)
}

// checkCommand returns a usage error for arguments that were probably not meant as a command: a subcommand,
// the value of a switch, or a flag of poll. After "--" it checks nothing.
func (p Env) checkCommand(s *Run) error {
	word := s.Operands[0]
	switch {
	case s.Dashes:
		return nil
	case len(s.Operands) > 1 && slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, word):
		return argv.Usagef("operand 1 would be run as a program, with the rest as its arguments").
			Hint("a switch such as --json takes no value").Hint("if it is meant: poll -- %s ...", word)
	case slices.Contains(p.Commands, word):
		return argv.Usagef("the subcommand %s comes first, and its flags after it", word).
			Hint("to run a program of that name: poll ... -- %s", word)
	}
	if wrong, hint := argv.Advice("meant " + strings.Join(s.Operands, " ")); wrong != "" {
		return argv.Usagef("operand 1 %s", wrong).Hint("%s", hint)
	}
	name, program := s.Misplaced(), ProgramName(word)
	if name == "" {
		return nil
	}
	return argv.Usagef("%s comes after the command, so it is an argument of the command, and no flag of poll", name).
		Advise("middle "+word).Hint("poll %s ... -- %s ...", name, program).Hint("if it is meant for %s: poll -- %s ...", program, program)
}

// CheckProgram checks whether c can run. If its first argument was probably meant as a URL or a flag, it
// returns a usage error. A program that cannot run is returned as missing, with advice. Invalid arguments are
// a usage error, too.
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

// RefuseNoProgram returns a usage error if args[0] cannot be a program, for example a header. The error does
// not contain args[0], which may hold a secret. It returns nil for any other argument.
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

// adviceOn returns a hint for a program that was not found.
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

// RefuseJoblog returns a usage error for --joblog -, since a job log must be a file.
func (s *Run) RefuseJoblog() error {
	if s.Joblog == "-" {
		return argv.Usagef("%s needs a file, which - is not", s.Origin("joblog"))
	}
	return nil
}

// refuseEach returns a usage error for --each without a response that may contain a list, or with several
// URLs.
func (s *Run) refuseEach() error {
	each := s.Origin("each")
	switch n := len(s.Operands); {
	case s.Each == "":
	case n == 0:
		return argv.Usagef("%s needs a URL or a command, whose answer has the list", each)
	case !s.IsCommand && n > 1:
		return argv.Usagef("%s is about one list, and %d URLs are given", each, n).Hint("one after the other: poll ... && poll ...")
	case !s.IsCommand && strings.HasPrefix(strings.ToLower(s.Operands[0]), "tcp:"):
		return argv.Usagef("%s needs an answer, and a TCP address gives none", each)
	}
	return nil
}
