package plan

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/chartfile"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/words"
)

// ScheduleCommand returns the command that shows when attempts would come.
func ScheduleCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:    "schedule",
		Summary: "see when a wait would poll",
		About: "poll schedule shows when poll, given the same flags, would make its attempts:\n" +
			"the wait before each (with jitter, its mean and bounds) and the time at which it\n" +
			"starts. It assumes that attempts take no time, and that no answer asks for\n" +
			"another wait.",
		Examples: []argv.Example{
			{Line: "poll schedule --timeout 10m --interval 30s", About: "how many attempts does that make?"},
			{Line: "poll schedule --overshoot 10% --until-time 1h", About: "how late is a completion after an hour noticed?"},
			{Line: "poll schedule --compare exponential,fixed,polynomial --svg growth.svg"},
			{Line: "poll schedule --learn deploy --svg deploy.svg", About: "when past runs say it will end, and the attempts"},
			{Line: "poll schedule --strategy polynomial --base 1s --max-wait 0 --attempts 25", About: "the table of Rails' polynomially_longer"},
		},
		Flags:        scheduleFlags(),
		HasVariables: true,
		Conflicts: slices.Concat(Conflicts(),
			argv.Conflicting("compare", "strategy", "interval", "overshoot", "seed", "until-time"),
			argv.Conflicting("until-time", "seed", "svg", "png"),
			argv.Conflicting("compare", "learn"), argv.Conflicting("until-time", "learn")),
		Run: func(ctx context.Context, l *argv.Line) error {
			o, err := readSchedule(l)
			if err != nil {
				return err
			}
			show := o.attempts
			switch {
			case o.strategies != nil:
				show = o.comparison
			case l.Has("learn"):
				show = o.learned
			case l.Has("until-time"):
				show = o.coverage
			}
			a, err := show(l, s)
			if err != nil {
				return err
			}
			return a.put(ctx, l, o.format)
		},
	}
}

// How many rows are shown.
const (
	defaultRows    = 100 // by default
	defaultCompare = 10
	// maxRows keeps a typing error from filling the memory.
	maxRows = 100_000
)

func scheduleFlags() argv.Flags {
	offeredStrategies := func() []argv.Candidate { return argv.Candidates(argv.Texts(schedule.Strategies())...) }
	return slices.Concat(argv.Flags{
		{Name: "attempts", Aliases: []string{"max-attempts"}, Value: "N", Default: "until --timeout, at most 100", Usage: "show this many"},
		{Name: "timeout", Value: "D", Default: words.Flag(DefaultTimeout), Usage: "show the attempts until then"},
	}, Flags("").Only("strategy", "base", "factor", "power", "max-wait",
		"interval", "overshoot", "jitter", "immediate", "initial-delay",
	), learning.Flags("").Only("learn", "poll-cost", "age", "history"), argv.Flags{
		{Name: "seed", Value: "N", Usage: "show the waits that poll --seed N draws, not means"},
		{Name: "compare", Value: "LIST", Offers: offeredStrategies, Usage: "show several strategies together"},
		{Name: "until-time", Value: "D", Usage: "attempts by then, and how late an end is seen"},
		formatFlag(table.Text, table.CSV, table.JSON, table.Markdown),
		{Name: "svg", Value: "FILE", Usage: "write a chart"},
		{Name: "png", Value: "FILE", Usage: "write a chart"},
		argv.HelpFlag(),
	})
}

type scheduleOptions struct {
	config     schedule.Config
	table      backoff.Table // without its schedule
	bounded    bool          // the command line says where the table ends
	seed       *rand.Rand    // nil for means
	strategies []schedule.Strategy
	until      time.Duration
	format     string
}

func readSchedule(l *argv.Line) (o scheduleOptions, err error) {
	if err := learning.RefuseUnlearned(l); err != nil {
		return o, err
	}
	config, err := ReadConfig(l, backoff.DefaultBase, backoff.DefaultMaxWait)
	o = scheduleOptions{
		config: config,
		table: backoff.Table{
			Attempts:     l.Count("attempts", 0, 0),
			Timeout:      l.Duration("timeout", 0),
			Immediate:    Immediate(l),
			InitialDelay: l.Duration("initial-delay", 0),
		},
		bounded: l.Has("attempts") || l.Has("timeout"),
		seed:    Source(l),
		until:   l.Duration("until-time", 0),
		format:  l.Choice("format"),
	}
	if l.Has("compare") {
		o.strategies = comparedStrategies(l)
	}
	if err := l.ErrOr(err); err != nil {
		return o, err
	}
	return o, chartfile.Check(l, "svg", "png")
}

// comparedStrategies reads which strategies to compare. It refuses parameters that
// none of them has.
func comparedStrategies(l *argv.Line) []schedule.Strategy {
	list := argv.List(l, "compare", schedule.Strategies())
	refuse := func(flag string, of schedule.Strategy) {
		if l.Has(flag) && !slices.Contains(list, of) {
			l.Fail(flag, argv.Usagef("only %s uses it, and that is not compared", of))
		}
	}
	refuse("factor", schedule.StrategyExponential)
	refuse("power", schedule.StrategyPolynomial)
	return list
}

// attempts answers with the attempts of one schedule.
func (o scheduleOptions) attempts(l *argv.Line, s *term.Streams) (answer, error) {
	if !o.bounded {
		o.table.Attempts, o.table.Timeout = defaultRows, DefaultTimeout
	}
	rows, err := o.scheduled(l)
	if err != nil {
		return answer{}, err
	}
	mean := series("mean", rows, startsAt)
	p := growthPlot(describe(o.config), mean)
	if jittered(rows) {
		p.Series = []chart.Series{
			series("latest", rows, func(r row) time.Duration { return r.Latest }),
			mean,
			series("earliest", rows, func(r row) time.Duration { return r.Earliest }),
		}
	}
	files := chartFiles(p)
	p.Title = "" // the totals say it
	return answer{timetable(rows), o.totals(rows) + chart.Screen(s, p), files}, nil
}

func (o scheduleOptions) scheduled(l *argv.Line) (rows []row, err error) {
	if o.table.Schedule, _, err = Schedules(l, o.config); err != nil {
		return nil, err
	}
	return o.collect()
}

// collect returns the rows, unless they are too many to read.
func (o scheduleOptions) collect() ([]row, error) {
	if o.table.Attempts == 0 && o.table.Timeout == 0 {
		return nil, argv.Usagef("the table would have no end: give --attempts or --timeout")
	}
	var all []row
	for r := range drawn(o.table, o.seed) {
		if len(all) == maxRows {
			return nil, argv.Usagef("the table has more than %d rows", maxRows).Hint("give fewer --attempts, or a shorter --timeout")
		}
		all = append(all, row{Row: r, strategy: o.config.Strategy})
	}
	return all, nil
}

// drawn enumerates the rows of t. With r their waits are drawn from it, as in one
// run, and not means.
func drawn(t backoff.Table, r *rand.Rand) iter.Seq[backoff.Row] {
	if r == nil {
		return t.Rows()
	}
	return func(yield func(backoff.Row) bool) {
		unbounded := t
		unbounded.Timeout = 0
		at, previous := t.InitialDelay, time.Duration(0)
		for row := range unbounded.Rows() {
			if n := row.Attempt - 1; n > 0 || !t.Immediate {
				previous = t.Schedule.Wait(backoff.Step{N: n, Elapsed: at, Previous: previous}, r)
				at += previous
			}
			row.Wait, row.At = previous, at
			if t.Timeout > 0 && at > t.Timeout || !yield(row) {
				return
			}
		}
	}
}

func (o scheduleOptions) totals(rows []row) string {
	if len(rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(o.table.Timeout))
	}
	last := rows[len(rows)-1]
	text := fmt.Sprintf("\n%s in %s", words.Count(len(rows), "attempt"), words.WithSeconds(last.At))
	if last.Earliest != last.Latest {
		how := "on average"
		if o.seed != nil {
			how = "as drawn"
		}
		text += fmt.Sprintf(" %s, between %s and %s", how, words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	text += "\n" + describe(o.config) + "\n"
	switch {
	case len(rows) != o.table.Attempts:
		text += fmt.Sprintf("poll --timeout %s looks once more, just before that\n", words.Flag(o.table.Timeout))
	case !o.bounded:
		text += fmt.Sprintf("these are the first %d; --attempts or --timeout shows others\n", len(rows))
	}
	return text
}

// comparison answers with the growth of several strategies.
func (o scheduleOptions) comparison(l *argv.Line, s *term.Streams) (answer, error) {
	if !o.bounded {
		o.table.Attempts = defaultCompare
	}
	title := append([]string{"growth of the strategies, base " + words.Flag(max(0, o.config.Base))}, describeBounds(o.config)...)
	p := growthPlot(strings.Join(title, ", "))
	c := compared{strategies: o.strategies}
	for _, strategy := range o.strategies {
		o.config.Strategy = strategy
		rows, err := o.scheduled(l)
		if err != nil {
			return answer{}, err
		}
		c.tables = append(c.tables, rows)
		p.Series = append(p.Series, series(string(strategy), rows, startsAt))
	}
	p.LogY = chart.NeedsLog(p.Series)
	return answer{c, chart.Screen(s, p), chartFiles(p)}, nil
}

type compared struct {
	strategies []schedule.Strategy
	tables     [][]row
}

// In formats the comparison. Programs get one table after another; people get the
// wait and start of all strategies in each row.
func (c compared) In(format string) (string, error) {
	if format == table.CSV || format == table.JSON {
		t := timetable(slices.Concat(c.tables...))
		strategy := table.Column[row]{Name: "strategy", Value: func(r row) any { return r.strategy }}
		t.Columns = append([]table.Column[row]{strategy}, t.Columns...)
		return t.In(format)
	}
	t := table.Table[int]{Columns: []table.Column[int]{{Head: "attempt", Value: func(n int) any { return n + 1 }}}}
	for i, rows := range c.tables {
		cell := func(of func(row) time.Duration) func(int) string {
			return func(n int) string {
				if n >= len(rows) {
					return ""
				}
				return words.Duration(of(rows[n]))
			}
		}
		t.Columns = append(t.Columns,
			table.Column[int]{Head: string(c.strategies[i]) + " wait", Text: cell(func(r row) time.Duration { return r.Wait })},
			table.Column[int]{Head: "starts at", Text: cell(startsAt)})
		for n := len(t.Rows); n < len(rows); n++ {
			t.Rows = append(t.Rows, n)
		}
	}
	return t.In(format)
}

// coverage answers how closely a schedule watches one moment.
func (o scheduleOptions) coverage(l *argv.Line, _ *term.Streams) (a answer, err error) {
	if o.table.Schedule, _, err = Schedules(l, o.config); err != nil {
		return a, err
	}
	c, err := cover(o.table, o.until)
	return answer{table: c}, err
}

// A coverage tells how closely a schedule watches the time at: how many attempts an operation
// costs that completes then, and how late its end is noticed.
type coverage struct {
	at       time.Duration
	attempts int           // started by then
	last     time.Duration // when the last of them started, 0 if there was none
	next     time.Duration // when the next attempt starts, 0 if there is none
	delay    time.Duration // the longest possible wait between the two
}

// cover returns how closely a schedule watches a time.
func cover(t backoff.Table, at time.Duration) (coverage, error) {
	const most = 1_000_000
	c := coverage{at: at}
	for row := range t.Rows() {
		if row.At > at {
			c.next, c.delay = row.At, row.Max
			return c, nil
		}
		if row.Attempt == most {
			return c, argv.Usagef("--until-time: look at the schedule at %v: more than %d attempts before it", at, most)
		}
		c.attempts, c.last = row.Attempt, row.At
	}
	return c, nil
}

func (c coverage) In(format string) (string, error) {
	known := func(ok bool, d time.Duration) any {
		if !ok {
			return (*float64)(nil)
		}
		return words.InSeconds(d)
	}
	t := table.Table[coverage]{Rows: []coverage{c}, Columns: []table.Column[coverage]{
		{Name: "until_s", Value: func(c coverage) any { return words.InSeconds(c.at) }},
		{Name: "attempts", Value: func(c coverage) any { return c.attempts }},
		{Name: "last_at_s", Value: func(c coverage) any { return known(c.attempts > 0, c.last) }},
		{Name: "next_at_s", Value: func(c coverage) any { return known(c.seen(), c.next) }},
		{Name: "longest_delay_s", Value: func(c coverage) any { return known(c.seen(), c.delay) }},
	}}
	switch format {
	case table.JSON:
		return t.Object()
	case table.CSV:
		return t.In(format)
	}
	return c.sentences(), nil
}

// seen reports whether an attempt comes after that time.
func (c coverage) seen() bool { return c.next > 0 }

func (c coverage) sentences() string {
	text := fmt.Sprintf("by %s: %s", words.WithSeconds(c.at), words.Count(c.attempts, "attempt"))
	if c.attempts > 0 {
		text += ", the last at " + words.WithSeconds(c.last)
	}
	if !c.seen() {
		return text + "; none comes after it\n"
	}
	return text + fmt.Sprintf(", the next at %s\na completion near %s is seen at most %s later\n",
		words.WithSeconds(c.next), words.Duration(c.at), words.WithSeconds(c.delay))
}
