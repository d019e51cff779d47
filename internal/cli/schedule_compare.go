package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/words"
)

// compareSchedules answers with the growth of several strategies.
func (in *invocation) compareSchedules(q timetableQuestion) error {
	if !in.bounded() {
		q.table.Attempts = defaultCompare
	}
	c := comparison{config: q.config}
	for _, s := range q.strategies {
		q.config.Strategy = s
		var err error
		if q.table.Schedule, err = in.scheduleOf(q.config); err != nil {
			return err
		}
		rows, err := in.collect(q.table, nil)
		if err != nil {
			return err
		}
		c.add(s, rows)
	}
	return in.showComparison(c, q.format)
}

func (in *invocation) showComparison(c comparison, format string) error {
	return in.putTable(c, c.plot(), format, func() string { return chart.Screen(in.Streams, c.plot()) })
}

// comparedStrategies reads which strategies to compare. Parameters that none of
// them has are refused.
func (in *invocation) comparedStrategies() []backoff.Strategy {
	list := listed(in.values, "compare", backoff.Strategies())
	for _, p := range []struct {
		flag string
		of   backoff.Strategy
	}{{"factor", backoff.StrategyExponential}, {"power", backoff.StrategyPolynomial}} {
		if in.split.has(p.flag) && !slices.Contains(list, p.of) {
			in.values.fail(p.flag, usagef("none of the strategies compared has it, %s would", p.of))
		}
	}
	return list
}

// listed reads a list of words, separated by commas, each once.
func listed[T ~string](v *values, name string, words []T) []T {
	var list []T
	for word := range strings.SplitSeq(v.String(name), ",") {
		word := T(strings.TrimSpace(word))
		switch {
		case !slices.Contains(words, word):
			err := usagef("%q is not one of %s", string(word), strings.Join(names(words), ", "))
			if near := nearest(string(word), names(words)); near != "" {
				err.hint("did you mean %s?", near)
			}
			v.fail(name, err)
		case !slices.Contains(list, word):
			list = append(list, word)
		}
	}
	return list
}

// A comparison holds the tables of several strategies.
type comparison struct {
	config     backoff.Config // but for the strategy
	strategies []backoff.Strategy
	tables     [][]backoff.Row
}

func (c *comparison) add(s backoff.Strategy, rows []backoff.Row) {
	c.strategies = append(c.strategies, s)
	c.tables = append(c.tables, rows)
}

// in sets the comparison in a format.
func (c comparison) in(format string) (string, error) {
	switch format {
	case formatJSON:
		return jsonList(c.records())
	case formatCSV:
		return c.data().csv(), nil
	case formatMarkdown:
		return c.sheet().markdown(), nil
	}
	return c.sheet().text(), nil
}

// A comparedRecord is a row of one strategy as JSON.
type comparedRecord struct {
	Strategy backoff.Strategy `json:"strategy"`
	rowRecord
}

func (c comparison) records() []comparedRecord {
	var records []comparedRecord
	for i, rows := range c.tables {
		for _, r := range rows {
			records = append(records, comparedRecord{c.strategies[i], recordOf(r)})
		}
	}
	return records
}

// data is the comparison for programs: a table below the other.
func (c comparison) data() *sheet {
	all := &sheet{}
	for i, rows := range c.tables {
		one := timetable{rows: rows}.data()
		all.header = append([]string{"strategy"}, one.header...)
		for _, row := range one.rows {
			all.add(append([]string{string(c.strategies[i])}, row...)...)
		}
	}
	return all
}

// sheet is the comparison for people: wait and start of each strategy in a row.
func (c comparison) sheet() *sheet {
	s := &sheet{header: []string{"attempt"}}
	longest := 0
	for i, rows := range c.tables {
		s.header = append(s.header, string(c.strategies[i])+" wait", "starts at")
		longest = max(longest, len(rows))
	}
	for n := range longest {
		cells := []string{strconv.Itoa(n + 1)}
		for _, rows := range c.tables {
			if n >= len(rows) {
				cells = append(cells, "", "")
				continue
			}
			cells = append(cells, words.Duration(rows[n].Wait), words.Duration(rows[n].At))
		}
		s.add(cells...)
	}
	return s
}

// plot draws the elapsed times together.
func (c comparison) plot() chart.Plot {
	var series []chart.Series
	for i, rows := range c.tables {
		s := chart.Series{Name: string(c.strategies[i])}
		for _, r := range rows {
			s.Points = append(s.Points, chart.Point{X: float64(r.Attempt), Y: words.InSeconds(r.At)})
		}
		series = append(series, s)
	}
	parts := append([]string{"growth of the strategies, base " + words.Flag(max(0, c.config.Base))}, describeBounds(c.config)...)
	p := growthPlot(strings.Join(parts, ", "), series...)
	p.LogY = chart.NeedsLog(series)
	return p
}
