package plan

import (
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// A coverage tells how closely a schedule watches the moment until: how many attempts an
// operation costs that completes then, and how late its end is noticed.
type coverage struct {
	until    time.Duration
	attempts int          // started by then
	last     *backoff.Row // of them; nil if there is none
	next     *backoff.Row // the first attempt after them; nil if there is none
}

// cover returns how closely the schedule watches the moment of --until-time.
func (q scheduleQuery) cover(l *argv.Line) (a answer[coverage], err error) {
	if q.table.Schedule, _, err = Schedules(l, q.config); err != nil {
		return a, err
	}
	c := coverage{until: l.Duration("until-time", 0)}
	for r := range q.table.Rows() {
		if r.At > c.until {
			c.next = &r
			break
		}
		if c.attempts = r.Attempt; c.attempts > maxRows {
			return a, argv.Usagef("--until-time: more than %d attempts come before it", maxRows)
		}
		c.last = &r
	}
	at := func(r *backoff.Row) time.Duration { return r.At }
	a.isOne, a.table.Rows = true, []coverage{c}
	a.table.Columns = []table.Column[coverage]{
		{Head: "by", Text: func(c coverage) string { return words.Duration(c.until) }},
		{Name: "until_s", Value: func(c coverage) any { return words.InSeconds(c.until) }},
		{Name: "attempts", Head: "attempts", Value: func(c coverage) any { return c.attempts }},
		momentColumn("last_at_s", "the last at", func(c coverage) *backoff.Row { return c.last }, at),
		momentColumn("next_at_s", "the next at", func(c coverage) *backoff.Row { return c.next }, at),
		momentColumn("longest_delay_s", "an end is seen late by at most", func(c coverage) *backoff.Row { return c.next },
			func(r *backoff.Row) time.Duration { return r.Max }),
	}
	return a, nil
}

// momentColumn returns the column of a time of an attempt that there may not be.
func momentColumn(name, head string, row func(coverage) *backoff.Row, of func(*backoff.Row) time.Duration) table.Column[coverage] {
	return table.Column[coverage]{
		Name: name, Value: func(c coverage) any {
			if row(c) == nil {
				return (*float64)(nil)
			}
			return words.InSeconds(of(row(c)))
		},
		Head: head, Text: func(c coverage) string {
			if row(c) == nil {
				return "-"
			}
			return words.Duration(of(row(c)))
		},
	}
}
