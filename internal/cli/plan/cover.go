package plan

import (
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// A coverage tells how closely a schedule watches a moment: how many attempts an operation
// costs that ends then, and how late its end is noticed. Times are nil for attempts that there
// are not.
type coverage struct {
	attempts    int            // started by then
	until, last *time.Duration // the moment, and the last of the attempts
	next, late  *time.Duration // the first attempt after them, and its longest wait
}

// cover returns how closely the schedule watches the moment of --until-time.
func (q *scheduleQuery) cover(l *argv.Line) (a answer[coverage], err error) {
	c := coverage{until: q.until}
	if err := q.config.Check(l); err != nil {
		return a, err
	}
	q.table.Schedule, _ = q.config.Schedules()
	for r := range q.table.Rows() {
		if r.At > *c.until {
			c.next, c.late = &r.At, &r.Max
			break
		}
		if c.attempts, c.last = r.Attempt, &r.At; c.attempts > maxRows {
			return a, argv.Usagef("--until-time: more than %d attempts come before it", maxRows)
		}
	}
	return answer[coverage]{isOne: true, table: table.Table[coverage]{Rows: []coverage{c}, Columns: []table.Column[coverage]{
		moment("until_s", "by", func(c coverage) *time.Duration { return c.until }),
		{Name: "attempts", Head: "attempts", Value: func(c coverage) any { return c.attempts }},
		moment("last_at_s", "the last at", func(c coverage) *time.Duration { return c.last }),
		moment("next_at_s", "the next at", func(c coverage) *time.Duration { return c.next }),
		moment("longest_delay_s", "an end is seen late by at most", func(c coverage) *time.Duration { return c.late }),
	}}}, nil
}

// moment returns the column of a time that there may not be.
func moment(name, head string, of func(coverage) *time.Duration) table.Column[coverage] {
	return table.Column[coverage]{
		Name: name, Value: func(c coverage) any {
			if of(c) == nil {
				return (*float64)(nil)
			}
			return words.InSeconds(*of(c))
		},
		Head: head, Text: func(c coverage) string {
			if of(c) == nil {
				return "-"
			}
			return words.Duration(*of(c))
		},
	}
}
