package ui

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// details reports the grounds of a verdict, and the head of the answer.
func (l *logFace) details(ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev, "rule", oneLine(ev.Verdict.Rule))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, note := range oneLines("", ev.Verdict.Notes, o.Remarks) {
		l.row(ev, "note", note)
	}
	what := "none"
	if code := answerCode(o); code != "" || len(o.Body) > 0 {
		what = strings.TrimPrefix(code+", "+sizeWords(o), ", ")
	}
	l.row(ev, "answer", what+", took "+words.Short(ev.Took))
	l.say(ownLines(excerpt(o.Body, verboseHead, false)))
}

// How much of text from outside is shown: lines, and columns of each.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// lastAnswer shows the answer to the last attempt.
func lastAnswer(o *status.Observation, stderrShown bool) (lines []string) {
	code, what := answerCode(o), "the last answer"
	if code != "" {
		what += " (" + code + ")"
	}
	switch {
	case len(o.Body) > 0:
		lines = append([]string{what + ", " + sizeWords(o) + ":"}, excerpt(o.Body, closingHead, false)...)
	case code != "" && len(o.Stderr) == 0:
		lines = []string{what + " was empty"}
	}
	if len(o.Stderr) > 0 && !stderrShown {
		lines = append(append(lines, "the end of its stderr:"), excerpt(o.Stderr, closingTail, true)...)
	}
	return lines
}

// answerCode returns the code of an answer in words: HTTP 404, exit 3.
func answerCode(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return fmt.Sprintf("HTTP %d", *o.Code)
	case o.Exit != nil:
		return fmt.Sprintf("exit %d", *o.Exit)
	}
	return ""
}

func sizeWords(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated && o.Size > int64(len(o.Body)) {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt returns at most so many lines of text from outside as a block: the first lines or,
// with fromEnd, the last.
func excerpt(text []byte, lines int, fromEnd bool) (rows []string) {
	const longest = blockWidth * utf8.UTFMax // bytes that are shown of a line
	const mark = "| ..."
	more := false
	for line := range bytes.Lines(text) {
		if more = len(rows) == lines; more && !fromEnd {
			return append(rows, mark)
		}
		if more {
			rows = rows[1:]
		}
		row := term.Block(string(line[:min(len(line), longest)]))
		rows = append(rows, term.Cut(strings.TrimSuffix(row, "\n"), blockWidth, "..."))
	}
	if more {
		return append([]string{mark}, rows...)
	}
	return rows
}
