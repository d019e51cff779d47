package ui

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// mostTold is the largest number of targets, lists, failures, origins or changes of a reason that
// are shown or reported each by itself.
const mostTold = 20

// oneLine returns untrusted text as part of one line, cut to a limit of columns.
func oneLine(s string) string {
	const columns, bytes = 300, 8 << 10 // of the text: columns that are shown, and bytes that are read
	return term.Cut(term.Line(s[:min(len(s), bytes)]), columns, "...")
}

// oneLines returns each of the texts as a line with the prefix.
func oneLines(prefix string, texts ...[]string) []string {
	var list []string
	for _, s := range slices.Concat(texts...) {
		list = append(list, prefix+oneLine(s))
	}
	return list
}

// ownLines returns lines of poll with their prefix, and blocks of text from outside without a change.
func ownLines(lines []string) (text string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "| ") {
			line = "poll: " + line
		}
		text += line + "\n"
	}
	return text
}

// clauses joins the texts that are not empty.
func clauses(all ...string) string { return joined("; ", all...) }

// joined joins the texts that are not empty by a separator.
func joined(sep string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), sep)
}

// pad fills text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// clock formats the age of a run for a column, where digits keep their places: "4.2s", "2m05s",
// "1h02m05s". It rounds down.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h == 0 {
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
}

// How much of text from outside is shown: lines, and columns of each line.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// responseLines returns the response to the last attempt, with the end of a command's stderr.
func responseLines(o *status.Observation, withStderr bool) (lines []string) {
	code, what := codeOf(o), "the last response"
	if code != "" {
		what += " (" + code + ")"
	}
	switch {
	case len(o.Body) > 0:
		lines = append([]string{what + ", " + sizeOf(o) + ":"}, excerpt(o.Body, closingHead, false)...)
	case code != "" && len(o.Stderr) == 0:
		lines = []string{what + " was empty"}
	}
	if len(o.Stderr) > 0 && withStderr {
		lines = append(append(lines, "the end of its stderr:"), excerpt(o.Stderr, closingTail, true)...)
	}
	return lines
}

// codeOf returns the code of a response in words: HTTP 404, exit 3. It returns "" without a code.
func codeOf(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return fmt.Sprintf("HTTP %d", *o.Code)
	case o.Exit != nil:
		return fmt.Sprintf("exit %d", *o.Exit)
	}
	return ""
}

// sizeOf returns the size of a response in words.
func sizeOf(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated && o.Size > int64(len(o.Body)) {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt returns a number of lines of text from outside as a block: the first lines or, with
// fromEnd, the last lines.
func excerpt(text []byte, lines int, fromEnd bool) (rows []string) {
	const longest = blockWidth * utf8.UTFMax // the bytes of a line that are read
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
