package ui

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

// github is what GitHub Actions is told at the end of several targets.
type github struct {
	annotations []string // of failures
	rows        []string // of the table, those of failures
	good        []string // the others
	targets     int
}

const (
	// maxAnnotations is how many GitHub shows of a step, less one for the goal.
	maxAnnotations = 10 - 1
	maxTableRows   = 100
)

// tellGitHub tells GitHub Actions how a run or a group ended: a failure becomes an
// annotation, and every run a row in the summary of the step. Of several targets it tells
// that at the end: where the goal was reached, none of them is worth an annotation.
func (r *Reporter) tellGitHub(ev poll.Event) {
	if ev.Kind == poll.EventWait || ev.Kind == poll.EventStart || ev.Kind == poll.EventAttempt || r.cfg.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	told := &r.github
	if ev.Kind == poll.EventEnd {
		told.add(ev.Outcome)
	}
	if !r.ended {
		return
	}
	if s := ev.Summary; s != nil && s.Ending == poll.Succeeded {
		told.annotations = nil
	} else if s != nil {
		told.annotations = append(told.annotations, annotation(r.cfg.Goal, unprefixed(r.closing(ev))))
	}
	if r.cfg.Face != JSON {
		r.con.say(strings.Join(told.annotations, ""))
	}
	if file := r.cfg.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
		// A summary that cannot be written is not worth an error or a message.
		_ = appendFile(file, told.table())
	}
}

// add takes the end of a run.
func (g *github) add(o *poll.Outcome) {
	g.targets++
	good := o.Ending == poll.Succeeded || o.Ending == poll.Cancelled
	if !good && len(g.annotations) < maxAnnotations {
		message := strings.Join(append([]string{ending(o, term.Palette{})}, advice(o)...), "\n")
		g.annotations = append(g.annotations, annotation(oneLine(o.Target), message))
	}
	rows := &g.rows
	if good {
		rows = &g.good
	}
	if len(*rows) < maxTableRows {
		*rows = append(*rows, markdownRow(o))
	}
}

// Annotation returns what GitHub Actions shows of a failure before there is a run, "" if
// that is not where poll runs.
func Annotation(getenv func(string) string, what, message string) string {
	if getenv("GITHUB_ACTIONS") != "true" {
		return ""
	}
	return annotation(what, message)
}

// annotation returns a failure as a workflow command:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func annotation(what, message string) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return "::error title=" + property.Replace("poll: "+what) + "::" + data.Replace(message) + "\n"
}

// table returns a table in GitHub's Markdown, failures first.
func (g *github) table() string {
	rows := append(g.rows, g.good...)
	rows = rows[:min(len(rows), maxTableRows)]
	if more := g.targets - len(rows); more > 0 {
		rows = append(rows, fmt.Sprintf("| and %s | | | | |\n", words.Count(more, "other")))
	}
	return "| poll | status | attempts | elapsed | reason |\n|---|---|---|---|---|\n" + strings.Join(rows, "") + "\n"
}

// markdownRow returns the end of a run as a row of the table.
func markdownRow(o *poll.Outcome) string {
	how := o.Status.String()
	if !endedByVerdict(o.Ending) {
		how = strings.TrimSuffix(string(o.Ending)+", "+how, ", ")
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s |\n",
		escapeMarkdown(oneLine(o.Target)), how, o.Attempts, words.Clock(o.Elapsed), escapeMarkdown(oneLine(o.Reason)))
}

// escapeMarkdown returns a line in which every character stands for itself: those
// that could begin markup, a cell or an element become entities.
func escapeMarkdown(s string) string {
	var entities []string
	for _, r := range "\\`*_{}[]<>()#+!|~&\"'@$" {
		entities = append(entities, string(r), fmt.Sprintf("&#%d;", r))
	}
	return strings.NewReplacer(entities...).Replace(s)
}

// appendFile adds text to a regular file. It leaves anything else alone, since that
// may block.
func appendFile(name, text string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
