package cli

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// pattern is compiled when it is first wanted: most runs want none.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// hasScheme reports whether an operand is a URL, of whatever scheme.
func hasScheme(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	isOther := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+.-", r))
	}
	return ok && scheme != "" && scheme[0] >= 'A' && strings.IndexFunc(scheme, isOther) < 0
}

// headerLine matches a header whose -H was forgotten, and assignment a variable
// that is set before a command, as in a shell.
var (
	headerLine = pattern(`^([A-Za-z][A-Za-z0-9-]*): `)
	assignment = pattern(`^([A-Za-z_][A-Za-z0-9_]*)=`)
)

// describeOperand returns what of an operand may be repeated in an error: the name
// of a header or a variable, a URL without its secrets, or nothing. The hint is to
// a header whose -H was forgotten.
func describeOperand(word string) (harmless, hint string) {
	if m := headerLine().FindStringSubmatch(word); m != nil {
		return m[1] + ": ...", "a header stands behind -H: -H '" + m[1] + ": ...'"
	}
	if name := longDash(word); name != "" {
		hint = "did you mean --" + name + "? A flag begins with two hyphens, not with a dash"
	}
	if m := assignment().FindStringSubmatch(word); m != nil {
		return m[1] + "=...", hint
	}
	if hasScheme(word) {
		return poll.TargetName(word), hint
	}
	return "", hint
}

// longDash is the name of a flag before which an editor has made a dash of the
// hyphens; "" for any other word.
func longDash(word string) string {
	name := strings.TrimLeft(word, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
	name, _, _ = strings.Cut(name, "=")
	if strings.HasPrefix(word, name) || waitFlags().Lookup(name) == nil {
		return ""
	}
	return name
}

// refuseStray refuses a first operand that is no program, with a URL behind it:
// what was to be the value of a flag, or a part of it. It returns nil for any
// other.
func refuseStray(l *argv.Line) error {
	if _, err := exec.LookPath(l.Operands[0]); err == nil || !slices.ContainsFunc(l.Operands[1:], hasScheme) {
		return nil
	}
	return l.TooMany(0, "a URL stands behind it").Hint("the flag before it takes no value, or has one already; a value with blanks stands in quotes")
}

// refuseBlanks refuses white space and what cannot be seen in a URL. It would be
// sent, escaped, with all that was to be words of their own.
func refuseBlanks(operand string) error {
	i := strings.IndexFunc(operand, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if i < 0 {
		return nil
	}
	err := argv.Usagef("the URL %s holds a blank or a control character", poll.TargetName(operand[:i]))
	for _, word := range strings.Fields(operand[i:]) {
		if flag := argv.FlagName(word); flag != "" {
			return err.Hint("%s stands within the quotes of the URL: end them before it", flag)
		}
	}
	return err.Hint("in a URL a blank is written %%20")
}

// refuseNoProgram refuses a word in the place of a program that is none and may
// hold a secret. It returns nil for any other.
func refuseNoProgram(word string) error {
	harmless, hint := describeOperand(word)
	err := argv.Usagef("%s is neither a URL nor a program", argv.NameOperand(0, harmless))
	switch {
	case hint != "":
		return err.Hint("%s", hint)
	case assignment().MatchString(word):
		return err.Hint("a variable is set by env: poll -- env %s COMMAND", harmless)
	}
	if words := strings.Fields(word); len(words) > 1 {
		if _, missing := exec.LookPath(words[0]); missing == nil || slices.ContainsFunc(words, argv.IsForShell) {
			return err.Hint("a command is not run by a shell: poll -- sh -c '%s ...'", argv.ProgramName(words[0]))
		}
	}
	return nil
}

// refuseDocument refuses a document behind --json, which in curl is a flag for a
// body to send: JSON, or the name of a file of it. A bracket alone is a program.
func refuseDocument(word string, given func(flag string) bool) error {
	isDocument := strings.HasPrefix(word, "{") || strings.HasPrefix(word, "@") || len(word) > 1 && word[0] == '['
	if !isDocument || !given("json") {
		return nil
	}
	return argv.Usagef("--json takes no value: it prints the outcome as JSON").
		Hint("curl's --json DATA is -d DATA -H 'Content-Type: application/json'")
}

// checkProgram finds out whether a program that does not exist was meant as
// something else: an address without its scheme, or what no program is. A program
// that is only missing is for the run to report, with a word about a subcommand of
// nearly that name.
func (w *wait) checkProgram(l *argv.Line, c poll.Command) error {
	if c.Check() == nil {
		return nil
	}
	word := c.Args[0]
	if err := refuseNoProgram(word); err != nil {
		return err
	}
	if typed, meant := meantURL(c.Args); meant != "" {
		return argv.Usagef("%s is neither a URL nor a program", typed).Hint("did you mean %s?", meant)
	}
	if _, err := exec.LookPath(word); err != nil && filepath.Base(word) == word {
		w.meant = meantByProgram(word, l.Subcommands())
	}
	return nil
}

// meantByProgram is what a program that does not exist may have been meant to be.
func meantByProgram(word string, subcommands []string) string {
	if word == "version" {
		return "poll --version"
	}
	if meant := words.Nearest(word, subcommands); meant != "" {
		return "the subcommand: poll " + meant
	}
	return ""
}

// meantURL is the URL that words which name no program were meant as, and the
// words as they may be shown; both are "" if they look like none. Without its
// query and userinfo it holds no secret.
func meantURL(args []string) (typed, meant string) {
	word, half := args[0], ""
	var scheme string
	if m := halfScheme().FindStringSubmatch(word); m != nil {
		half, scheme, word = m[1], strings.ToLower(m[2])+"://", m[3]
	}
	bare := userinfo().ReplaceAllString(word, "")
	switch {
	case scheme != "":
	case len(args) == 2 && portNumber().MatchString(args[1]) && hostAlone().MatchString(bare):
		return bare + " " + args[1], "tcp://" + bare + ":" + args[1]
	case portAlone().MatchString(bare):
		scheme = "http://localhost"
	default:
		scheme = schemeOf(bare)
	}
	if _, err := url.Parse(scheme + bare); scheme == "" || err != nil {
		return "", ""
	}
	meant = poll.TargetName(scheme + bare)
	return half + strings.TrimPrefix(meant, scheme), meant
}

// halfScheme matches http:/host and tcp:host:port, hostAlone what may stand
// before a port as a word of its own, and portAlone :8080/path.
var (
	halfScheme = pattern(`^((?i:(https?|tcp)):/?)([^/].*)$`)
	hostAlone  = pattern(`^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[0-9a-fA-F:]+\])$`)
	portNumber = pattern(`^\d+$`)
	portAlone  = pattern(`^:\d+(?:[/?].*)?$`)
)

// userinfo matches what stands before the host of an address.
var userinfo = pattern(`^[^/?#\s]*@`)

// address matches what looks like host:port or host.name/path.
var address = pattern(`^(?:(localhost|[\w.-]+|\[[0-9a-fA-F:]+\]):\d+(?:[/?].*)?|([\w-]+(?:\.[\w-]+)+)/.*)$`)

// schemeOf is the scheme that an address without one probably has.
func schemeOf(word string) string {
	m := address().FindStringSubmatch(word)
	switch {
	case m == nil || m[2] == "." || m[2] == "..":
		return ""
	case m[2] != "":
		return "https://"
	}
	return "http://"
}
