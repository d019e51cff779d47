package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/words"
)

// usageText formats an error for the terminal. What was typed may contain anything.
func usageText(err error) string {
	var b strings.Builder
	if all, ok := errors.AsType[*targets.Problems](err); ok {
		for _, p := range all.Shown {
			b.WriteString(problemText(&p))
		}
		if more := all.Total - len(all.Shown); more > 0 {
			fmt.Fprintf(&b, "poll: and %s\n", words.Count(more, "further error"))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "poll: %s\n", term.Line(err.Error()))
	if e, ok := errors.AsType[*expr.Error](err); ok {
		b.WriteString(caret(e.Source, e.Column-1, e.Hint))
	}
	if e, ok := errors.AsType[*argv.UsageError](err); ok {
		for _, hint := range e.Hints {
			fmt.Fprintf(&b, "  hint: %s\n", term.Line(hint))
		}
	}
	return b.String()
}

// problemText formats what is wrong at a place of a targets file.
func problemText(p *targets.Problem) string {
	text := "poll: " + term.Line(p.Error()) + "\n"
	hint := term.Line(p.Hint)
	switch {
	case p.Source != "":
		return text + caret(p.Source, p.Caret, hint)
	case hint != "":
		return text + "  hint: " + hint + "\n"
	}
	return text
}

// badExpression names the flag or variable that an expression came from.
func badExpression(origin string, err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		usage := argv.Usagef("%s, %w", origin, e) // which begins with a column
		if e.JQ != "" {
			usage.Hint("or let jq decide: %s", jqSetting(origin, e.JQ))
		}
		return usage
	}
	return argv.Usagef("%s: %w", origin, err)
}

// jqSetting is what to type to set a flag or a variable to an expression in jq.
func jqSetting(origin, expression string) string {
	quoted := "'" + strings.ReplaceAll(expression, "'", `'\''`) + "'"
	switch {
	case strings.HasPrefix(origin, "-"):
		return origin + " " + quoted
	case find(`^[A-Z]+_[A-Z_]+$`, origin) != nil:
		return origin + "=" + quoted
	}
	return quoted
}

func compileValue(l *argv.Line, flag string) (*expr.Expr, error) {
	e, err := expr.CompileValue(l.String(flag), expr.WithEnviron(l.LookupEnv))
	if err != nil {
		return nil, badExpression(l.Origin(flag), err)
	}
	return e, nil
}

// caret shows a place in a source, in characters from 0, and a hint below it.
func caret(source string, at int, hint string) string {
	line, column := window(strings.Map(flat, source), at)
	text := fmt.Sprintf("  %s\n  %s^\n", line, strings.Repeat(" ", column))
	if hint != "" {
		text += "  hint: " + hint + "\n"
	}
	return text
}

// flat keeps a source on one line and free of terminal controls, rune by rune, so
// that columns stay what they are.
func flat(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// window cuts a long source down to the surroundings of the column.
func window(source string, column int) (string, int) {
	const most = 72
	runes := []rune(source)
	column = min(max(column, 0), len(runes))
	start := 0
	if len(runes) > most {
		start = max(0, column-most*2/3)
	}
	return string(runes[start:min(len(runes), start+most)]), column - start
}

// find matches a pattern, and its groups, against something mistyped. It compiles
// the pattern on demand, since most runs need none.
func find(pattern, text string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }

const (
	// headerLine is a header without its -H.
	headerLine = `^([A-Za-z][A-Za-z0-9-]*): `
	// assignment is a variable set before a command, as in a shell.
	assignment = `^([A-Za-z_][A-Za-z0-9_]*)=`
	// halfScheme is an incomplete scheme, as in http:/host and tcp:host:port.
	halfScheme = `^((?i:(https?|tcp)):/?)([^/].*)$`
	// hostAlone is a host whose port may follow as a separate word.
	hostAlone = `^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-fA-F:]+\])$`
	// userinfo is what precedes the host in an address.
	userinfo = `^[^/?#\s]*@`
	// hostAndPort and hostAndPath are addresses without a scheme, portAlone is a
	// port on this machine.
	hostAndPort = `^(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d+(?:[/?].*)?$`
	hostAndPath = `^[\w-]+(?:\.[\w-]+)+/.*$`
	portAlone   = `^:\d+(?:[/?].*)?$`
)

// hasScheme reports whether an operand is a URL, with any scheme.
func hasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	u, err := url.Parse(scheme + "://h")
	return ok && err == nil && u.Scheme != ""
}

// describeOperand returns the part of an operand that an error may repeat: the name
// of a header or a variable, a URL without its secrets, or nothing. The hint
// suggests the -H of a header, or a flag.
func describeOperand(word string) (harmless, hint string) {
	if m := find(headerLine, word); m != nil {
		return m[1] + ": ...", "a header comes after -H: -H '" + m[1] + ": ...'"
	}
	// An editor may have turned the hyphens into dashes.
	name := strings.TrimLeft(word, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
	flag, _, _ := strings.Cut(name, "=")
	if name != word && waitFlags().Lookup(flag) != nil {
		hint = "did you mean --" + flag + "? A flag begins with two hyphens, not with a dash"
	}
	if m := find(assignment, word); m != nil {
		harmless = m[1] + "=..."
	} else if hasScheme(word) {
		harmless = poll.TargetName(word)
	}
	return harmless, hint
}

// refuseStray refuses a first operand that is not a program and has a URL after it:
// it was meant as the value of a flag, or part of one. It returns nil for any
// other.
func refuseStray(l *argv.Line) error {
	if _, err := exec.LookPath(l.Operands[0]); err == nil || !slices.ContainsFunc(l.Operands[1:], hasScheme) {
		return nil
	}
	return l.TooMany(0, "a URL follows it").
		Hint("the flag before it takes no value, or has one already; quote a value with blanks")
}

// refuseBlanks refuses white space and invisible characters in a URL. They would be
// sent, escaped, with all that was meant as separate words.
func refuseBlanks(operand string) error {
	i := strings.IndexFunc(operand, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if i < 0 {
		return nil
	}
	err := argv.Usagef("the URL %s holds a blank or a control character", poll.TargetName(operand[:i]))
	for _, word := range strings.Fields(operand[i:]) {
		if flag := argv.FlagName(word); flag != "" {
			return err.Hint("%s is inside the quotes of the URL: close them before it", flag)
		}
	}
	return err.Hint("in a URL a blank is written %%20")
}

// doubts are what of a command line and the environment may mean something else than it seems to.
func (w World) doubts(l *argv.Line) (notes []string) {
	switch word := l.Misplaced(); {
	case word == "":
	case argv.IsForShell(word):
		notes = append(notes, fmt.Sprintf("note: %s stands behind --, so it is an argument of the command: no shell reads it", word))
	default:
		notes = append(notes, fmt.Sprintf("note: %s stands behind --, so it is an argument of the command, and no flag of poll", word))
	}
	var known []string
	for _, f := range waitFlags() {
		known = append(known, strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
	}
	others := []string{"POLL_ATTEMPT", "POLL_ELAPSED", "POLL_STATUS", killAfter, shareSecret}
	for _, variable := range w.Environ {
		name, _, _ := strings.Cut(variable, "=")
		word, ours := strings.CutPrefix(name, "POLL_")
		if !ours || slices.Contains(known, word) || slices.Contains(others, name) {
			continue
		}
		if meant := words.Nearest(word, known); meant != "" {
			notes = append(notes, fmt.Sprintf("note: %s sets nothing: did you mean POLL_%s?", name, meant))
		}
	}
	return notes
}

// refuseGlobs refuses what curl or --targets would fill in, and nothing does.
func refuseGlobs(operand string) error {
	m := find(`\{[^{}]*\}|\[\w+-\w+\]`, operand)
	switch {
	case m == nil:
		return nil
	case m[0] == "{}":
		return argv.Usagef("the URL has {}, and nothing to fill it with").Hint("--targets FILE fills it with each line of a file; a brace itself is written %%7B")
	}
	return argv.Usagef("the URL has %s, and curl's globs are not known here", m[0]).
		Hint("give each URL, or {} in one and --targets FILE; a brace itself is written %%7B, a bracket %%5B")
}

// refuseDocument refuses a document after --json, which in curl takes a body to
// send: JSON, or the name of a JSON file. A bracket alone is a program.
func refuseDocument(word string, given func(flag string) bool) error {
	isDocument := strings.HasPrefix(word, "{") || strings.HasPrefix(word, "@") || len(word) > 1 && word[0] == '['
	if !isDocument || !given("json") {
		return nil
	}
	return argv.Usagef("--json takes no value: it prints the outcome as JSON").
		Hint("curl's --json DATA is -d DATA here: JSON is sent as application/json")
}

// checkProgram reports whether a program that does not exist was meant as something
// else: a URL without its scheme, or something that is never a program. A program
// that only cannot be run is returned as missing, with advice; one that cannot be given
// its arguments is an error, too.
func checkProgram(l *argv.Line, c poll.Command) (missing *status.Failure, advice string, err error) {
	wrong := c.Check()
	if wrong == nil {
		return nil, "", nil
	}
	if err := refuseNoProgram(c.Args[0]); err != nil {
		return nil, "", err
	}
	if err := refuseOperator(l, c.Args[0]); err != nil {
		return nil, "", err
	}
	if typed, meant := meantURL(c.Args); meant != "" {
		return nil, "", argv.Usagef("%s is neither a URL nor a program", typed).Hint("did you mean %s?", strings.Join(withTCP(meant), ", or "))
	}
	missing, cannotRun := errors.AsType[*status.Failure](wrong)
	if !cannotRun {
		return nil, "", argv.Usagef("%w", wrong)
	}
	if missing.Kind == status.FailureNotFound && !errors.Is(missing.Err, exec.ErrDot) {
		advice = adviceOn(c.Args[0], l.Subcommands())
	}
	return missing, advice, nil
}

// refuseNoProgram refuses a word in place of a program that cannot be one and may
// hold a secret. It returns nil for any other.
func refuseNoProgram(word string) error {
	harmless, hint := describeOperand(word)
	err := argv.Usagef("%s is neither a URL nor a program", argv.NameOperand(0, harmless))
	parts := strings.Fields(word)
	switch {
	case hint != "":
		return err.Hint("%s", hint)
	case find(assignment, word) != nil:
		return err.Hint("a variable is set by env: poll -- env %s COMMAND", harmless)
	case len(parts) < 2:
		return nil
	}
	if _, missing := exec.LookPath(parts[0]); missing == nil || slices.ContainsFunc(parts, argv.IsForShell) {
		return err.Hint("a command is not run by a shell: poll -- sh -c '%s ...'", argv.ProgramName(parts[0]))
	}
	return nil
}

// adviceOn returns advice about a program that was not found.
func adviceOn(program string, subcommands []string) string {
	meant := words.Nearest(program, subcommands)
	_, noTopic := docs.Pages.Open(program + ".md")
	switch {
	case filepath.Base(program) != program:
		return ""
	case noTopic == nil:
		return "did you mean the topic: poll help " + program
	case meant != "":
		return "did you mean the subcommand: poll " + meant
	case strings.ContainsFunc(program, unicode.IsSpace):
		return "give the command and its arguments as separate words; run a shell line with sh -c"
	case find(hostAlone, program) != nil:
		return "a URL begins with its scheme, such as https://"
	}
	return "no directory in PATH has a program of that name"
}

// refuseOperator refuses an operator in place of a program: the expression before it is not quoted.
func refuseOperator(l *argv.Line, word string) error {
	if !slices.Contains(strings.Fields("== != < > <= >= =~ !~ = === and or in contains startswith endswith && ||"), word) {
		return nil
	}
	for i := range slices.Backward(l.Given) {
		if g := l.Given[i]; g.Typed() && g.Flag.Value == "EXPR" {
			return argv.Usagef("%s is an operator: the expression of %s is not quoted", word, g.Origin).
				Hint("put all of it in single quotes: %s '%s %s ...'", g.Origin, g.Value, word)
		}
	}
	return nil
}

// withTCP adds the TCP address to a URL of a host and a port. It comes first where hardly anybody
// speaks HTTP.
func withTCP(meant string) []string {
	m := find(`^http://([^/?]+):(\d+)$`, meant)
	switch {
	case m == nil:
		return []string{meant}
	case slices.Contains([]string{"5432", "6379", "3306", "27017", "9092", "5672", "11211", "22", "25"}, m[2]):
		return []string{"tcp://" + m[1] + ":" + m[2], meant}
	}
	return []string{meant, "tcp://" + m[1] + ":" + m[2]}
}

// meantURL returns the URL that words which name no program were meant as, and the
// words as they may be shown; both are "" if there is none. Without its query and
// userinfo it holds no secret.
func meantURL(args []string) (typed, meant string) {
	word, half, scheme := args[0], "", ""
	if m := find(halfScheme, word); m != nil {
		half, scheme, word = m[1], strings.ToLower(m[2])+"://", m[3]
	}
	bare := regexp.MustCompile(userinfo).ReplaceAllString(word, "")
	switch {
	case scheme != "":
	case len(args) == 2 && find(`^\d+$`, args[1]) != nil && find(hostAlone, bare) != nil:
		return bare + " " + args[1], "tcp://" + bare + ":" + args[1]
	case find(portAlone, bare) != nil:
		scheme = "http://localhost"
	case find(hostAndPort, bare) != nil:
		scheme = "http://"
	case find(hostAndPath, bare) != nil:
		scheme = "https://"
	}
	if _, err := url.Parse(scheme + bare); scheme == "" || err != nil {
		return "", ""
	}
	meant = poll.TargetName(scheme + bare)
	return half + strings.TrimPrefix(meant, scheme), meant
}
