package ui

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	// maxAnnotations is how many GitHub shows of a step, less one for the goal.
	maxAnnotations = 10 - 1
	maxTableRows   = 100
)

// tellGitHub tells GitHub Actions how a run or a group ended: a failure becomes an
// annotation, and every target a row in the summary of the step. Of several targets it tells
// that at the end: where the goal was reached, none of them is worth an annotation.
func (r *Reporter) tellGitHub(row *Row, ev poll.Event) {
	if r.cfg.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	if o := ev.Outcome; o != nil && row.isMissed() && len(r.annotations) < maxAnnotations {
		message := strings.Join(append([]string{ending(o, term.Palette{})}, advice(o)...), "\n")
		r.annotations = append(r.annotations, annotation(oneLine(o.Target), message))
	}
	if !r.ended {
		return
	}
	if s := ev.Summary; s != nil && s.Ending == poll.Succeeded {
		r.annotations = nil
	} else if s != nil {
		r.annotations = append(r.annotations, annotation(r.cfg.Goal, unprefixed(r.closing(ev))))
	}
	if r.cfg.Face != JSON {
		r.con.say(strings.Join(r.annotations, ""))
	}
	if file := r.cfg.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
		// A summary that cannot be written is not worth an error or a message.
		_ = appendFile(file, r.board.markdown())
	}
}

// isMissed reports whether a target ended without what was waited for.
func (r *Row) isMissed() bool {
	return r.over() && r.ending != poll.Succeeded && r.ending != poll.Cancelled
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

// markdown returns a table of the targets in GitHub's Markdown, failures first.
func (b *Board) markdown() string {
	text, ended := "| poll | status | attempts | elapsed | reason |\n|---|---|---|---|---|\n", 0
	for _, missed := range []bool{true, false} {
		for _, row := range b.rows {
			if row == nil || row.isMissed() != missed {
				continue
			}
			if ended++; ended <= maxTableRows {
				text += row.markdown()
			}
		}
	}
	if more := ended - maxTableRows; more > 0 {
		text += fmt.Sprintf("| and %s | | | | |\n", words.Count(more, "other"))
	}
	return text + "\n"
}

// markdown returns the end of a target as a row of the table.
func (r *Row) markdown() string {
	how := string(r.status)
	if !endedByVerdict(r.ending) {
		how = strings.TrimSuffix(string(r.ending)+", "+how, ", ")
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s |\n",
		escapeMarkdown(oneLine(r.name)), how, r.attempt, clock(r.elapsed), escapeMarkdown(r.reason))
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
