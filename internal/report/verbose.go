package report

import (
	"fmt"

	"github.com/pollcli/poll/poll"
)

// details says what was decided and on what grounds.
func (l *lines) details(t *talk, ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev.Elapsed, ev.Attempt, "rule", words(ev.Verdict.Rule))
	}
	for _, n := range ev.Verdict.Notes {
		l.row(ev.Elapsed, ev.Attempt, "note", words(n))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, s := range o.Remarks {
		l.row(ev.Elapsed, ev.Attempt, "remark", words(s))
	}
	if o.Hint != nil {
		l.row(ev.Elapsed, ev.Attempt, "hint", fmt.Sprintf("%s asks for %s", words(o.Hint.Source), short(o.Hint.Wait)))
	}
	l.answer(t, ev)
}

// answer says how an attempt was answered. A body that looks as the one before
// is not shown again.
func (l *lines) answer(t *talk, ev poll.Event) {
	o := ev.Observation
	what := answer(o)
	if what == "" && len(o.Body) == 0 {
		l.row(ev.Elapsed, ev.Attempt, "answer", "none, took "+short(ev.Took))
		return
	}
	if what != "" {
		what += ", "
	}
	what += bytesWords(o) + ", took " + short(ev.Took)
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
