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

// summaryBytes is how long the table of a step summary may be before another row: GitHub drops a file of more than 1 MiB.
const summaryBytes = 256 << 10

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
	var text strings.Builder
	fmt.Fprintf(&text, "\n<p>poll: %s</p>\n<table>\n", html.EscapeString(ending(r.ended(r.newest), term.Palette{}, false)))
	text.WriteString("<tr><th></th><th>target</th><th>status</th><th>time</th><th>reason</th></tr>\n")
	more := r.board.size
	for _, row := range rows {
		if text.Len() > summaryBytes {
			break
		}
		more--
		text.WriteString("<tr>")
		for _, cell := range []string{glyphsOf(true).ended(row), oneLine(row.name), row.state(), clock(r.board.age(row, r.newest.At)), row.reason} {
			text.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		text.WriteString("</tr>\n")
	}
	text.WriteString("</table>\n")
	if more > 0 {
		fmt.Fprintf(&text, "<p>and %d more</p>\n", more)
	}
	return text.String() + "\n"
}
