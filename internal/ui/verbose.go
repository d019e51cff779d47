package ui

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// details reports the decision of an attempt and its grounds.
func (l *lines) details(row *Row, ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev, "rule", oneLine(ev.Verdict.Rule))
	}
	for _, n := range ev.Verdict.Notes {
		l.row(ev, "note", oneLine(n))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, s := range o.Remarks {
		l.row(ev, "remark", oneLine(s))
	}
	if o.Hint != nil {
		l.row(ev, "hint", fmt.Sprintf("%s asks for %s", oneLine(o.Hint.Source), words.Short(o.Hint.Wait)))
	}
	l.answer(row, ev)
}

// answer reports how an attempt was answered. It does not repeat a body that looks
// the same as the last.
func (l *lines) answer(row *Row, ev poll.Event) {
	o, what := ev.Observation, "none"
	if code := answerCode(o); code != "" || len(o.Body) > 0 {
		what = strings.TrimPrefix(code+", "+sizeWords(o), ", ")
	}
	if o.Taken {
		what += ", from another process"
	} else {
		what += ", took " + words.Short(ev.Took)
	}
	columns := blockWidth
	if w := l.width(); w > 0 {
		columns = min(columns, w)
	}
	body := excerpt(o.Body, verboseHead, columns, false)
	if body != "" && body == l.bodies[row.n] {
		what, body = what+", looks the same", ""
	} else {
		l.bodies[row.n] = body
	}
	l.row(ev, "answer", what)
	l.say(body)
}

// How much of text from outside is shown: lines, and columns of each.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// lastAnswer shows the answer to the last attempt.
func lastAnswer(o *status.Observation, stderrShown bool) string {
	code, text := answerCode(o), ""
	what := "the last answer"
	if code != "" {
		what += " (" + code + ")"
	}
	switch {
	case len(o.Body) > 0:
		text = fmt.Sprintf("poll: %s, %s:\n%s", what, sizeWords(o), excerpt(o.Body, closingHead, blockWidth, false))
	case code != "" && len(o.Stderr) == 0:
		text = "poll: " + what + " was empty\n"
	}
	if len(o.Stderr) > 0 && !stderrShown {
		text += "poll: the end of its stderr:\n" + excerpt(o.Stderr, closingTail, blockWidth, true)
	}
	return text
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
	if o.Truncated {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt returns at most so many lines of text from outside as a block, each at
// most so many columns wide: the first lines or, with fromEnd, the last.
func excerpt(text []byte, lines, columns int, fromEnd bool) string {
	part := text // most of a large body is not shown, and need not be sanitized
	if most := lines * columns * utf8.UTFMax; len(text) > most && fromEnd {
		part = bytes.TrimLeftFunc(text[len(text)-most:], func(r rune) bool { return r == utf8.RuneError })
	} else if len(text) > most {
		part = text[:most] // what is left of a character there is cut off below
	}
	var rows []string
	for row := range strings.Lines(term.Block(string(part))) {
		rows = append(rows, term.Cut(strings.TrimSuffix(row, "\n"), columns, "...")+"\n")
	}
	const more = "| ...\n"
	switch {
	case len(rows) <= lines && len(part) == len(text):
		return strings.Join(rows, "")
	case fromEnd:
		return more + strings.Join(rows[max(0, len(rows)-lines):], "")
	}
	return strings.Join(rows[:min(len(rows), lines)], "") + more
}
