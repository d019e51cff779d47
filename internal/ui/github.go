package ui

import (
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
