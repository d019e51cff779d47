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

// Command is the protocol of programs: how they end, and the messages that they print.
type Command struct{}

// Succeeded reports whether a program has ended with the code 0, or one of those in Accept. A message of a program that
// runs counts as successful.
func (Command) Succeeded(o *status.Observation) bool {
	switch {
	case o.Exit == nil:
		return o.Message
	case o.Accept != nil:
		return slices.Contains(o.Accept, *o.Exit)
	}
	return *o.Exit == 0
}

// Meaning returns the meaning of an exit code, a message or a failure. SUCCESS without a rule comes from an accepted
// exit code only.
func (Command) Meaning(o *status.Observation) status.Meaning {
	m := status.Plain(o, noFailure)
	switch {
	case o.Failure != nil:
	case o.Exit == nil && !o.Message:
		m.Allow &^= status.AllowRead
		m.Default, m.Named = verdict(status.Verdict{Reason: noFailure}), []string{"exit", "status", "error"}
	case o.Exit == nil:
	case !o.Good():
		m.Allow &^= status.AllowRead
		m.Holds, m.Named = status.HoldsAlways, []string{"exit"}
		m.Default = func() (status.Verdict, *status.Verdict) { return unsuccessful(o), nil }
	default:
		m.Reason = fmt.Sprintf("exit code %d", *o.Exit)
		m.Default = success(m.Reason, len(o.Body) == 0) // nothing that a rule could read
	}
	return m
}

// exitText returns how a command ended, and the line of its output that says why; of stdout if there is
// no stderr.
func exitText(o *status.Observation, stderr []byte) string {
	text := fmt.Sprintf("exit code %d", *o.Exit)
	switch {
	case o.Signal != "":
		text = "killed by signal " + o.Signal
	case int64(*o.Exit) >= 1<<31: // of Windows, whose own codes are known so
		text += fmt.Sprintf(" (0x%X)", *o.Exit)
	case *o.Exit == exitNotExecutable:
		text += " (cannot be executed)"
	case *o.Exit == exitNotFound:
		text += " (command not found)"
	}
	line := errorLine(stderr)
	if line == "" && bytes.ContainsRune(bytes.TrimSpace(o.Body), '\n') && json.Valid(o.Body) { // no accidental member
		s := Reported(o).State
		if s.Path != "" {
			line = Say(s)
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

// The exit codes of a shell, env or sudo that could not run the command it was given
// (POSIX, Shell Command Language, section 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// unsuccessful returns the verdict on an exit code that is not accepted, and on stderr.
func unsuccessful(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.NotReady, Reason: exitText(o, o.Stderr)}
	switch wrong := calledWrongly(o.Stderr); {
	case *o.Exit == 0:
		v.Reason = "exit code 0, which is not accepted"
	case *o.Exit == exitNotExecutable, *o.Exit == exitNotFound:
		v.Status, v.Final = status.Error, true
	case wrong != nil:
		v.Status, v.Final = status.Error, true
		v.Reason = exitText(o, wrong) + ": the command was called wrongly"
	case patterns()["throttled"].Match(o.Stderr):
		v.Status = status.Throttled
	}
	return v
}

// errorLine returns the last line that contains "error", "fatal" or "failed" in any case,
// else the last line with a letter or a digit, else "". A klog line counts only as the
// latter: kubectl logs each of its tries as an error, and then says in plain words what
// is wrong.
func errorLine(output []byte) (last string) {
	const most = 64 << 10 // bytes
	is, lines := patterns(), bytes.Split(output[max(0, len(output)-most):], []byte("\n"))
	for _, line := range slices.Backward(lines) {
		switch {
		case !is["words"].Match(line):
		case is["failure"].Match(line) && !words.IsKlog(line):
			return words.Excerpt(line)
		case last == "":
			last = words.Excerpt(line)
		}
	}
	return last
}

// calledWrongly returns the line of stderr by which a program reports that it was called wrongly, nil
// for none. What it only warns of does not count.
func calledWrongly(stderr []byte) []byte {
	for _, line := range patterns()["usage"].FindAll(stderr, -1) {
		if !patterns()["warning"].Match(line) {
			return line
		}
	}
	return nil
}

// Denied returns the phrase of stderr by which a program reports that its credentials were rejected, nil for none.
func Denied(stderr []byte) []byte { return patterns()["denied"].Find(stderr) }

//go:embed stderr.txt
var stderrText string

// patterns returns what matches the phrases of stderr.txt, by their meaning.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	around := map[string]string{ // for most, a phrase says itself where it stands
		"usage":     `(?m)^(?:[\w./-]+(?: [a-z][\w-]*)*: )?(?:[Ee]rror: )?(?:%s).*$`,
		"throttled": `\b(?:%s)\b`,
	}
	phrases, matches := map[string]string{}, map[string]*regexp.Regexp{}
	for line := range strings.Lines(stderrText) {
		head, phrase, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		meaning, _, _ := strings.Cut(head, " ")
		if meaning == "" || meaning == "#" {
			continue
		}
		phrases[meaning] = strings.TrimPrefix(phrases[meaning]+"|"+phrase, "|")
	}
	for meaning, phrase := range phrases {
		matches[meaning] = regexp.MustCompile(fmt.Sprintf(cmp.Or(around[meaning], "%s"), phrase))
	}
	return matches
})
