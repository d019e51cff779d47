package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// compareSchedules answers with the growth of several strategies.
func compareSchedules(ctx context.Context, l *argv.Line, s *term.Streams, o scheduleOptions) (err error) {
	if !o.bounded {
		o.table.Attempts = defaultCompare
	}
	c := comparison{config: o.config}
	for _, strategy := range o.strategies {
		o.config.Strategy = strategy
		if o.table.Schedule, _, err = Schedules(l, o.config); err != nil {
			return err
		}
		rows, err := o.collect(ctx)
		if err != nil {
			return err
		}
		c.strategies = append(c.strategies, strategy)
		c.tables = append(c.tables, rows)
	}
	return put(ctx, l, c, o.format, func() string { return chart.Screen(s, c.plot()) }, chartFiles(c.plot())...)
}

// comparedStrategies reads which strategies to compare. Parameters that none of
// them has are refused.
func comparedStrategies(l *argv.Line) []backoff.Strategy {
	list := argv.List(l, "compare", backoff.Strategies())
	for _, p := range []struct {
		flag string
		of   backoff.Strategy
	}{{"factor", backoff.StrategyExponential}, {"power", backoff.StrategyPolynomial}} {
		if l.Has(p.flag) && !slices.Contains(list, p.of) {
			l.Fail(p.flag, argv.Usagef("none of the strategies compared has it, %s would", p.of))
		}
	}
	return list
}

// A comparison holds the tables of several strategies.
type comparison struct {
	config     backoff.Config // but for the strategy
	strategies []backoff.Strategy
	tables     [][]row
}

// In sets the comparison in a format. For programs there is a table below the
// other; people see wait and start of each strategy in a row.
func (c comparison) In(format string) (string, error) {
	if format == table.CSV || format == table.JSON {
		strategy := table.Column[row]{Name: "strategy", Value: func(r row) any { return r.strategy }}
		columns := append([]table.Column[row]{strategy}, attemptColumns(true)...)
		return table.Table[row]{Columns: columns, Rows: slices.Concat(c.tables...)}.In(format)
	}
	columns := []table.Column[int]{{Head: "attempt", Text: func(n int) string { return strconv.Itoa(n + 1) }}}
	longest := 0
	for i, rows := range c.tables {
		cell := func(of func(row) time.Duration) func(int) string {
			return func(n int) string {
				if n >= len(rows) {
					return ""
				}
				return words.Duration(of(rows[n]))
			}
		}
		columns = append(columns,
			table.Column[int]{Head: string(c.strategies[i]) + " wait", Text: cell(func(r row) time.Duration { return r.Wait })},
			table.Column[int]{Head: "starts at", Text: cell(func(r row) time.Duration { return r.At })})
		longest = max(longest, len(rows))
	}
	t := table.Table[int]{Columns: columns}
	for n := range longest {
		t.Rows = append(t.Rows, n)
	}
	return t.In(format)
}

// plot draws the elapsed times together.
func (c comparison) plot() chart.Plot {
	var all []chart.Series
	for i, rows := range c.tables {
		all = append(all, series(string(c.strategies[i]), rows, func(r row) time.Duration { return r.At }))
	}
	parts := append([]string{"growth of the strategies, base " + words.Flag(max(0, c.config.Base))}, describeBounds(c.config)...)
	p := growthPlot(strings.Join(parts, ", "), all...)
	p.LogY = chart.NeedsLog(all)
	return p
}
