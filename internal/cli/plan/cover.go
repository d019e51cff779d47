package plan

import (
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// cover tells how closely the schedule watches the moment of --until-time: how many attempts an
// operation costs that ends then, and how late its end is noticed.
func (q *scheduleQuery) cover(l *argv.Line) (a answer, err error) {
	if err := q.config.Check(l); err != nil {
		return a, err
	}
	q.table.Schedule, _ = q.config.Schedules()
	attempts := 0
	var last, next, late *time.Duration // nil for an attempt that there is not
	for r := range q.table.Rows() {
		if r.At > *q.until {
			next, late = &r.At, &r.Max
			break
		}
		if attempts, last = r.Attempt, &r.At; attempts > maxRows {
			return a, argv.Usagef("--until-time: more than %d attempts come before it", maxRows)
		}
	}
	return answer{table: table.Table[int]{IsOne: true, Rows: []int{attempts}, Columns: []table.Column[int]{
		moment("until_s", "by", q.until),
		{Name: "attempts", Head: "attempts", Value: func(n int) any { return n }},
		moment("last_at_s", "the last at", last),
		moment("next_at_s", "the next at", next),
		moment("longest_delay_s", "an end is seen late by at most", late),
	}}}, nil
}

// moment returns the column of a time that there may not be.
func moment(name, head string, at *time.Duration) table.Column[int] {
	if at == nil {
		return table.Column[int]{
			Name: name, Value: func(int) any { return (*float64)(nil) },
			Head: head, Text: func(int) string { return "-" },
		}
	}
	return table.Column[int]{
		Name: name, Value: func(int) any { return words.InSeconds(*at) },
		Head: head, Text: func(int) string { return words.Duration(*at) },
	}
}
