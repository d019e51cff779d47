package meaning

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// Command is the protocol of programs. It interprets exit codes, signals and lines of output.
type Command struct{}

// Succeeded reports whether a program has ended with the exit code 0 or, if o.Accept is not nil, with one of the
// codes in o.Accept. A line of output that is evaluated while the program runs counts as successful, too.
func (Command) Succeeded(o *status.Observation) bool {
	return isAccepted(o, o.Exit, func(exit int) bool { return exit == 0 })
}

// Meaning returns the meaning of a program's exit code, of a line of its output, or of a failure. If no rule matches,
// only an accepted exit code can mean SUCCESS.
func (Command) Meaning(o *status.Observation) status.Meaning {
	m := plain(o, noFailure)
	switch {
	case o.Failure != nil:
	case o.Exit == nil && !o.Message:
		m.Allow &^= status.AllowRead
		m.Default, m.Named = status.Always(status.Verdict{Reason: noFailure}), []string{"exit", "status", "error"}
	case o.Exit == nil:
	case !o.Good():
		m.Allow &^= status.AllowRead
		m.Holds, m.Named = status.HoldsAlways, []string{"exit"}
		m.Default = func(bool) status.Verdict { return exitVerdict(o) }
	default:
		m.Reason = fmt.Sprintf("exit code %d", *o.Exit)
		m.Default, m.Certain = success(m.Reason), len(o.Body) == 0 // no output that a rule could read
	}
	return m
}

// exitText describes how a command has ended, such as "exit code 1: error: no such pod". It appends the line that
// explains the end, from stderr or, if stderr has no such line, from standard output.
func exitText(o *status.Observation, stderr []byte) string {
	text := fmt.Sprintf("exit code %d", *o.Exit)
	switch {
	case o.Signal != "":
		text = "killed by signal " + o.Signal
	case int64(*o.Exit) >= 1<<31: // a Windows status code, usually written in hexadecimal
		text += fmt.Sprintf(" (0x%X)", *o.Exit)
	case *o.Exit == exitNotExecutable:
		text += " (cannot be executed)"
	case *o.Exit == exitNotFound:
		text += " (command not found)"
	}
	line := errorLine(stderr)
	if line == "" && bytes.ContainsRune(bytes.TrimSpace(o.Body), '\n') && json.Valid(o.Body) { // standard output is a JSON document of several lines, so search its members
		s := ReportOf(o).State
		if s.Path != "" {
			line = s.String()
		}
		line = strings.TrimPrefix(withDetail(o, line, s), ": ")
	} else if line == "" {
		line = errorLine(o.Body)
	}
	if line != "" {
		text += ": " + line
	}
	return text
}

// These exit codes of a shell, env or sudo mean that the given program could not be run (POSIX, Shell Command
// Language, section 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exitVerdict returns the verdict for an exit code that is not accepted. The verdict depends on the code and on
// stderr.
func exitVerdict(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.NotReady, Reason: exitText(o, o.Stderr)}
	switch wrong := calledWrongly(o.Stderr); {
	case *o.Exit == 0:
		v.Reason = "exit code 0, which is not accepted"
	case *o.Exit == exitNotExecutable, *o.Exit == exitNotFound:
		v.Status, v.Final = status.Error, true
	case wrong != nil:
		v.Status, v.Final = status.Error, true
		v.Reason = exitText(o, wrong) + ": the command was called wrongly"
	case patterns()["throttled"]().Match(o.Stderr):
		v.Status = status.Throttled
	}
	return v
}

// errorLine returns the last line of output that contains "error", "fatal" or "failed" in any case. If there is no
// such line, it returns the last line that has a letter or a digit, or "". A line in the format of klog counts only
// in the second case: kubectl logs each failed try as an error, and then prints a message that is easier to
// understand.
func errorLine(output []byte) (last string) {
	const most = 64 << 10 // bytes
	is, lines := patterns(), bytes.Split(output[max(0, len(output)-most):], []byte("\n"))
	for _, line := range slices.Backward(lines) {
		switch {
		case !is["words"]().Match(line):
		case is["failure"]().Match(line) && !words.IsKlog(line):
			return words.Excerpt(line)
		case last == "":
			last = words.Excerpt(line)
		}
	}
	return last
}

// calledWrongly returns the line of stderr that reports a usage error, such as an unknown flag. It returns nil if
// there is no such line. Warnings do not count.
func calledWrongly(stderr []byte) []byte {
	for _, line := range patterns()["usage"]().FindAll(stderr, -1) {
		if !patterns()["warning"]().Match(line) {
			return line
		}
	}
	return nil
}

// Denied returns the phrase in stderr that reports rejected credentials, or nil if there is no such phrase.
func Denied(stderr []byte) []byte { return patterns()["denied"]().Find(stderr) }

//go:embed stderr.txt
var stderrText string

// patterns returns functions that return regular expressions for the phrases in stderr.txt. The keys are the meanings
// of the phrases.
var patterns = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	around := map[string]string{ // restrictions on where a phrase matches in stderr; the other phrases match anywhere
		"usage":     `(?m)^(?:[\w./-]+(?: [a-z][\w-]*)*: )?(?:[Ee]rror: )?(?:%s).*$`,
		"throttled": `\b(?:%s)\b`,
	}
	phrases, matches := map[string]string{}, map[string]func() *regexp.Regexp{}
	for line := range strings.Lines(stderrText) {
		head, phrase, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		meaning, _, _ := strings.Cut(head, " ")
		if meaning == "" || meaning == "#" {
			continue
		}
		phrases[meaning] = strings.TrimPrefix(phrases[meaning]+"|"+phrase, "|")
	}
	for meaning, phrase := range phrases {
		matches[meaning] = words.Pattern(fmt.Sprintf(cmp.Or(around[meaning], "%s"), phrase))
	}
	return matches
})
