package report

import (
	"fmt"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// details says what was decided and on what grounds.
func (l *lines) details(t *talk, ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev.Elapsed, ev.Attempt, "rule", oneLine(ev.Verdict.Rule))
	}
	for _, n := range ev.Verdict.Notes {
		l.row(ev.Elapsed, ev.Attempt, "note", oneLine(n))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, s := range o.Remarks {
		l.row(ev.Elapsed, ev.Attempt, "remark", oneLine(s))
	}
	if o.Hint != nil {
		l.row(ev.Elapsed, ev.Attempt, "hint", fmt.Sprintf("%s asks for %s", oneLine(o.Hint.Source), words.Short(o.Hint.Wait)))
	}
	l.answer(t, ev)
}

// answer says how an attempt was answered. A body that looks as the one before
// is not shown again.
func (l *lines) answer(t *talk, ev poll.Event) {
	o := ev.Observation
	what := answer(o)
	if what == "" && len(o.Body) == 0 {
		l.row(ev.Elapsed, ev.Attempt, "answer", "none, took "+words.Short(ev.Took))
		return
	}
	if what != "" {
		what += ", "
	}
	what += bytesWords(o) + ", took " + words.Short(ev.Took)
	columns := blockWidth
	if w := l.width(); w > 0 {
		columns = min(columns, w)
	}
	body := head(o.Body, verboseHead, columns)
	if body != "" && body == t.body {
		what += ", looks as before"
	}
	l.row(ev.Elapsed, ev.Attempt, "answer", what)
	if body != t.body {
		l.say(body)
	}
	t.body = body
}
