package status

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
)

// maxLine is the length in characters to which a line of output is cut for a reason.
const maxLine = 240

// exitText says how a command ended, and the line of its output that says why; of stdout if there is
// no stderr.
func exitText(o *Observation, stderr []byte) string {
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
		s := o.reported().State
		if s.Path != "" {
			line = say(s)
		}
		line = strings.TrimPrefix(withDetail(line, Environment(o), s), ": ")
	} else if line == "" {
		line = errorLine(o.Body)
	}
	if line != "" {
		text += ": " + line
	}
	return text
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
		case is["failure"].Match(line) && !is["klog"].Match(line):
			return excerpt(line)
		case last == "":
			last = excerpt(line)
		}
	}
	return last
}

// excerpt returns the part of a line that goes into a reason. Without the prefix of a
// logger the reason is the same at each attempt.
func excerpt(line []byte) string {
	line = bytes.TrimSpace(line)
	for _, logger := range []string{"klog", "time"} {
		line = line[len(patterns()[logger].Find(line)):]
	}
	return words.Shorten(string(line), maxLine)
}

// calledWrongly returns the line of stderr by which a program says that it was called wrongly, nil
// for none. What it only warns of does not count.
func calledWrongly(stderr []byte) []byte {
	for _, line := range patterns()["usage"].FindAll(stderr, -1) {
		if !patterns()["warning"].Match(line) {
			return line
		}
	}
	return nil
}

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
