package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

// coverSchedule answers how well a schedule watches one moment.
func (in *invocation) coverSchedule(q timetableQuestion) error {
	var err error
	if q.table.Schedule, err = in.scheduleOf(q.config); err != nil {
		return err
	}
	c, err := in.coverage(q.table, q.until)
	if err != nil {
		return err
	}
	text, err := coverage{q.until, c}.in(q.format)
	if err != nil {
		return err
	}
	return in.writeOut(text)
}

// coverage asks the table, which may take long, until a signal comes.
func (in *invocation) coverage(t backoff.Table, at time.Duration) (backoff.Coverage, error) {
	type answer struct {
		backoff.Coverage
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		c, err := t.Coverage(at)
		answers <- answer{c, err}
	}()
	select {
	case <-in.ctx.Done():
		return backoff.Coverage{}, context.Cause(in.ctx)
	case a := <-answers:
		if a.err != nil {
			return a.Coverage, usagef("--until-time: %w", a.err)
		}
		return a.Coverage, nil
	}
}

// A coverage is how well a schedule watches the time at.
type coverage struct {
	at time.Duration
	backoff.Coverage
}

// in sets the answer in a format.
func (c coverage) in(format string) (string, error) {
	switch format {
	case formatJSON:
		return jsonLine(c.record())
	case formatCSV:
		return c.data().csv(), nil
	}
	return c.words(), nil
}

// A coverageRecord is the answer as JSON; null is what there is not.
type coverageRecord struct {
	Until    float64  `json:"until_s"`
	Attempts int      `json:"attempts"`
	Last     *float64 `json:"last_at_s"`
	Next     *float64 `json:"next_at_s"`
	Delay    *float64 `json:"longest_delay_s"`
}

func (c coverage) record() coverageRecord {
	r := coverageRecord{Until: words.InSeconds(c.at), Attempts: c.Attempts}
	if c.Attempts > 0 {
		r.Last = new(words.InSeconds(c.Last))
	}
	if c.seen() {
		r.Next, r.Delay = new(words.InSeconds(c.Next)), new(words.InSeconds(c.Delay))
	}
	return r
}

func (c coverage) data() *sheet {
	r := c.record()
	s := &sheet{header: []string{"until_s", "attempts", "last_at_s", "next_at_s", "longest_delay_s"}}
	cells := []string{words.Number(r.Until), fmt.Sprint(r.Attempts)}
	for _, n := range []*float64{r.Last, r.Next, r.Delay} {
		if n == nil {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, words.Number(*n))
	}
	s.add(cells...)
	return s
}

// seen reports whether an attempt comes after that time.
func (c coverage) seen() bool { return c.Next > 0 }

func (c coverage) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "by %s: %s", words.WithSeconds(c.at), words.Count(c.Attempts, "attempt"))
	if c.Attempts > 0 {
		fmt.Fprintf(&b, ", the last at %s", words.WithSeconds(c.Last))
	}
	if !c.seen() {
		b.WriteString("; none comes after it\n")
		return b.String()
	}
	fmt.Fprintf(&b, ", the next at %s\n", words.WithSeconds(c.Next))
	fmt.Fprintf(&b, "a completion near %s is seen at most %s later\n", words.Duration(c.at), words.WithSeconds(c.Delay))
	return b.String()
}
