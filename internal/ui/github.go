package ui

import (
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// maxAnnotations is how many GitHub shows of a step, less one for the goal.
const maxAnnotations = 10 - 1

// tellGitHub tells GitHub Actions how a run or a group ended: a failure becomes an
// annotation. Of several targets it tells that at the end: where the goal was reached, none of them is worth an annotation.
func (r *Reporter) tellGitHub(row *Row, ev poll.Event) {
	if r.cfg.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	if o := ev.Outcome; o != nil && row.isMissed() && len(r.annotations) < maxAnnotations {
		message := strings.Join(append([]string{ending(o, term.Palette{}, false)}, advice(o)...), "\n")
		r.annotations = append(r.annotations, annotation(oneLine(o.Target), message))
	}
	if !r.isEnd(ev) {
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
