package ui

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// tellGitHub tells GitHub Actions of a failure at the end: it becomes an annotation.
func (r *Reporter) tellGitHub(ev poll.Event) {
	if r.cfg.Face == JSON || !r.isEnd(ev) || r.succeeded(ev) {
		return
	}
	what, lines := r.cfg.Goal, r.closing(ev)
	if o := ev.Outcome; o != nil {
		what, lines = oneLine(o.Target), append([]string{ending(o, term.Palette{}, false)}, advice(o)...)
	}
	r.con.say(Annotation(r.cfg.Getenv, what, strings.Join(lines, "\n")))
}

// Annotation returns a failure as a workflow command, which GitHub Actions shows; "" if that is not
// where poll runs: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func Annotation(getenv func(string) string, what, message string) string {
	if getenv("GITHUB_ACTIONS") != "true" {
		return ""
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer(":", "%3A", ",", "%2C")
	return "::error title=" + property.Replace(data.Replace("poll: "+what)) + "::" + data.Replace(message) + "\n"
}

// How much a step summary has at most: targets, and bytes, since a name may be long.
const (
	summaryRows  = 500
	summaryBytes = 512 << 10
)

// StepSummary returns how several targets ended, those first that have failed or are not done, as Markdown for the
// page of a workflow run; "" for a single wait. It is a table in HTML, in which no text of an answer
// is Markdown.
func (r *Reporter) StepSummary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest.Summary == nil {
		return ""
	}
	rows := slices.DeleteFunc(slices.Clone(r.board.rows), func(row *Row) bool { return row == nil })
	rank := func(row *Row) int {
		return slices.Index([]bool{row.hasFailed(), row.isMissed(), !row.over(), true}, true)
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return rank(a) - rank(b) })
	text := "\n<p>poll: " + html.EscapeString(ending(r.ended(r.newest), term.Palette{}, false)) + "</p>\n<table>\n" +
		"<tr><th></th><th>target</th><th>status</th><th>time</th><th>reason</th></tr>\n"
	var lines strings.Builder
	shown := 0
	for _, row := range rows {
		line := r.summaryRow(row)
		if shown == summaryRows || lines.Len()+len(line) > summaryBytes {
			break
		}
		lines.WriteString(line)
		shown++
	}
	text += lines.String() + "</table>\n"
	if more := r.board.size - shown; more > 0 {
		text += fmt.Sprintf("<p>and %d more</p>\n", more)
	}
	return text + "\n"
}

// summaryRow returns the row of a target.
func (r *Reporter) summaryRow(row *Row) string {
	line := "<tr>"
	for _, cell := range []string{glyphsOf(true).ended(row), oneLine(row.name), row.state(), clock(r.board.age(row, r.newest.At)), row.reason} {
		line += "<td>" + html.EscapeString(cell) + "</td>"
	}
	return line + "</tr>\n"
}
