package report

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// tellGitHub tells GitHub Actions how a run ended: a failure becomes an annotation,
// and every run a row in the summary of the step.
func (r *Reporter) tellGitHub(o *poll.Outcome) {
	if r.cfg.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	if o.Ending != poll.Succeeded && r.cfg.Face != JSON {
		r.con.say(annotation(o))
	}
	if file := r.cfg.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
		// A summary that cannot be written is not worth an error or a message.
		_ = appendFile(file, stepSummary(o))
	}
}

// annotation returns a failure as a workflow command:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func annotation(o *poll.Outcome) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.Join(append([]string{ending(o, term.Palette{})}, advice(o)...), "\n")
	return "::error title=" + property.Replace("poll: "+oneLine(o.Target)) + "::" + data.Replace(message) + "\n"
}

// stepSummary returns a table of one row in GitHub's Markdown.
func stepSummary(o *poll.Outcome) string {
	how := o.Status.String()
	if !endedByVerdict(o.Ending) {
		how = strings.TrimSuffix(o.Ending.String()+", "+how, ", ")
	}
	const head = "| poll | status | attempts | elapsed | reason |\n|---|---|---|---|---|\n"
	return fmt.Sprintf(head+"| %s | %s | %d | %s | %s |\n\n",
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
