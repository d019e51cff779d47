package backoff

import (
	"fmt"
	"iter"
	"time"
)

// A Row is one line of the table of a schedule: an attempt and the wait before
// it. Attempts are taken to last no time.
type Row struct {
	// Attempt counts from 1.
	Attempt int
	// Wait is the mean of the wait before the attempt. Min and Max are its
	// bounds, equal to it where chance has no part.
	Wait, Min, Max time.Duration
	// At is when the attempt starts, counted from the start of the run: the sum
	// of the mean waits so far. Earliest and Latest are the sums of the bounds.
	At, Earliest, Latest time.Duration
}

// A Table says which rows of a schedule are wanted.
type Table struct {
	// Schedule is what to tabulate. nil means Exponential{}.
	Schedule Schedule
	// Attempts is the largest number of rows. 0 means no limit.
	Attempts int
	// Timeout leaves out attempts that start later. 0 means no limit.
	Timeout time.Duration
	// Immediate leaves out the first wait: the first attempt starts at once, and
	// the second wait comes before the second attempt as ever.
	Immediate bool
	// InitialDelay comes before anything else.
	InitialDelay time.Duration
}

// Rows enumerates the rows of t, without end if neither limit is set. Means are
// computed, not sampled: exactly where the wait grows evenly with the draw, and
// within 1% where a cap cuts off a part of the draws.
func (t Table) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		row := Row{At: t.InitialDelay, Earliest: t.InitialDelay, Latest: t.InitialDelay}
		spread := newSpread(orExponential(t.Schedule))
		for n := 0; t.Attempts <= 0 || n < t.Attempts; n++ {
			row.Attempt = n + 1
			if n > 0 || !t.Immediate {
				row = row.after(spread.next(n, row.At))
			}
			if t.Timeout > 0 && row.At > t.Timeout || !yield(row) {
				return
			}
		}
	}
}

// after puts a wait before the attempt of r.
func (r Row) after(wait bounds) Row {
	r.Wait, r.Min, r.Max = wait.mean, wait.min, wait.max
	r.At = sum(r.At, wait.mean)
	r.Earliest = sum(r.Earliest, wait.min)
	r.Latest = sum(r.Latest, wait.max)
	return r
}

// MaxRows is how many rows [Table.Coverage] looks at before it gives up.
const MaxRows = 1_000_000

// Coverage tells how well a schedule watches the moment of a completion.
type Coverage struct {
	// Attempts is the number of attempts that have started by then.
	Attempts int
	// Last is when the last of them started, 0 if there was none.
	Last time.Duration
	// Next is when the next attempt starts, 0 if there is none.
	Next time.Duration
	// Delay is the longest time from a completion near that moment to the
	// attempt that sees it: the whole wait between Last and Next, at its
	// longest. 0 if there is no next attempt.
	Delay time.Duration
}

// Coverage returns how well t watches the time at since the start. It fails if
// that takes more than MaxRows attempts.
func (t Table) Coverage(at time.Duration) (Coverage, error) {
	var c Coverage
	for row := range t.Rows() {
		if row.At > at {
			c.Next, c.Delay = row.At, row.Max
			return c, nil
		}
		if row.Attempt == MaxRows {
			return c, fmt.Errorf("look at the schedule at %v: more than %d attempts before it", at, MaxRows)
		}
		c.Attempts, c.Last = row.Attempt, row.At
	}
	return c, nil
}
