package plan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/words"
)

// coverTime answers how well a schedule watches one moment.
func coverTime(ctx context.Context, l *argv.Line, o scheduleOptions) (err error) {
	if o.table.Schedule, _, err = Schedules(l, o.config); err != nil {
		return err
	}
	c := coverage{at: o.until}
	if c.Coverage, err = cover(ctx, o.table, o.until); err != nil {
		return err
	}
	text, err := c.in(o.format)
	if err != nil {
		return err
	}
	return l.Write(ctx, text)
}

// cover asks the table, which may take long, until a signal comes.
func cover(ctx context.Context, t backoff.Table, at time.Duration) (backoff.Coverage, error) {
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
	case <-ctx.Done():
		return backoff.Coverage{}, context.Cause(ctx)
	case a := <-answers:
		if a.err != nil {
			return a.Coverage, argv.Usagef("--until-time: %w", a.err)
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
	t := table.Table[coverage]{Columns: coverageColumns(), Rows: []coverage{c}}
	switch format {
	case table.JSON:
		return t.Object()
	case table.CSV:
		return t.In(format)
	}
	return c.sentences(), nil
}

// coverageColumns describe the answer for programs.
func coverageColumns() []table.Column[coverage] {
	known := func(ok bool, d time.Duration) any {
		if !ok {
			return (*float64)(nil)
		}
		return words.InSeconds(d)
	}
	return []table.Column[coverage]{
		{Name: "until_s", Value: func(c coverage) any { return words.InSeconds(c.at) }},
		{Name: "attempts", Value: func(c coverage) any { return c.Attempts }},
		{Name: "last_at_s", Value: func(c coverage) any { return known(c.Attempts > 0, c.Last) }},
		{Name: "next_at_s", Value: func(c coverage) any { return known(c.seen(), c.Next) }},
		{Name: "longest_delay_s", Value: func(c coverage) any { return known(c.seen(), c.Delay) }},
	}
}

// seen reports whether an attempt comes after that time.
func (c coverage) seen() bool { return c.Next > 0 }

func (c coverage) sentences() string {
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
