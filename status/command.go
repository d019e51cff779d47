package status

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pollcli/poll/status/internal/wording"
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
	if len(bytes.TrimSpace(stderr)) == 0 {
		stderr = o.Body
	}
	if line := errorLine(stderr); line != "" {
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
	lines := bytes.Split(output[max(0, len(output)-most):], []byte("\n"))
	for _, line := range slices.Backward(lines) {
		switch {
		case !bytes.ContainsFunc(line, isWordRune):
		case errorWord().Match(line) && !klogPrefix().Match(line):
			return excerpt(line)
		case last == "":
			last = excerpt(line)
		}
	}
	return last
}

var errorWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)error|fatal|failed`) })

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// excerpt returns the part of a line that goes into a reason. Without the prefix of a
// logger the reason is the same at each attempt.
func excerpt(line []byte) string {
	line = bytes.TrimSpace(line)
	for _, prefix := range []*regexp.Regexp{klogPrefix(), timePrefix()} {
		line = line[len(prefix.Find(line)):]
	}
	return wording.Shorten(string(line), maxLine)
}

// klogPrefix is the prefix of klog, which kubectl and much of Kubernetes use: level and
// date, time, process id, place in the source.
var klogPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^ \]]+:\d+\] +`)
})

// timePrefix is a date and time, or a time alone, bare, in brackets or as the
// first key of logfmt.
var timePrefix = sync.OnceValue(func() *regexp.Regexp {
	const date, time = `\d{4}[-/]\d\d[-/]\d\d`, `\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`
	return regexp.MustCompile(`^(?:time="?|[\[(])?(?:` + date + `[T ])?` + time + `["\])]?[:,]? +(?:- +)?`)
})

// calledWrongly returns the line of stderr by which a program says that it was called wrongly, nil
// for none. What it only warns of does not count.
func calledWrongly(stderr []byte) []byte {
	for _, line := range stderrWords()["usage"].FindAll(stderr, -1) {
		if lower := bytes.ToLower(line); !bytes.Contains(lower, []byte("warn")) && !bytes.Contains(lower, []byte("ignor")) {
			return line
		}
	}
	return nil
}

//go:embed stderr.txt
var stderrText string

// stderrWords returns what matches the phrases of stderr.txt, by their meaning.
var stderrWords = sync.OnceValue(func() map[string]*regexp.Regexp {
	phrases := map[string][]string{}
	for line := range strings.Lines(stderrText) {
		head, phrase, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		meaning, _, _ := strings.Cut(head, " ")
		phrases[meaning] = append(phrases[meaning], phrase)
	}
	return map[string]*regexp.Regexp{
		"usage":     regexp.MustCompile(`(?m)^(?:[\w./-]+(?: [a-z][\w-]*)*: )?(?:[Ee]rror: )?(?:` + strings.Join(phrases["usage"], "|") + `).*$`),
		"throttled": regexp.MustCompile(`\b(?:` + strings.Join(phrases["throttled"], "|") + `)\b`),
	}
})
