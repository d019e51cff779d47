package plan

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// ScheduleCommand shows when the attempts of a wait would come.
func ScheduleCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:    "schedule",
		Summary: "how often and how long a wait would poll",
		About: "poll schedule shows the waits that the same flags give poll: before each attempt\n" +
			"the wait (with jitter its mean and bounds), and when the attempt starts.\n" +
			"Attempts are taken to last no time, and answers to ask for no other wait.",
		Examples: []argv.Example{
			{Line: "poll schedule --timeout 10m --interval 30s", About: "how many attempts are that?"},
			{Line: "poll schedule --overshoot 10% --until-time 1h", About: "how late is a completion after an hour seen?"},
			{Line: "poll schedule --compare exponential,fixed,polynomial --svg growth.svg"},
			{Line: "poll schedule --learn deploy --svg deploy.svg", About: "where past runs say that it will end, and the attempts"},
			{Line: "poll schedule --strategy polynomial --base 1s --max-wait 0 --attempts 25", About: "the table of Rails' polynomially_longer"},
		},
		Flags: scheduleFlags(),
		Conflicts: slices.Concat(Conflicts(),
			argv.Conflicting("compare", "strategy", "interval", "overshoot", "seed", "until-time"),
			argv.Conflicting("until-time", "seed", "svg", "png"),
			argv.Conflicting("compare", "learn"), argv.Conflicting("until-time", "learn")),
		Run: func(ctx context.Context, l *argv.Line) error {
			o, err := readSchedule(l)
			if err != nil {
				return err
			}
			switch {
			case o.strategies != nil:
				return compareSchedules(ctx, l, s, o)
			case l.Has("learn"):
				return showLearned(ctx, l, s, o)
			case l.Has("until-time"):
				return coverTime(ctx, l, o)
			}
			return showSchedule(ctx, l, s, o)
		},
	}
}

// The rows that are shown where nobody says how many.
const (
	defaultRows    = 100 // until the default timeout
	defaultCompare = 10
	// maxRows keeps a slip of the finger from filling the memory.
	maxRows = 100_000
)

func scheduleFlags() argv.Flags {
	own := argv.Flags{
		{Name: "attempts", Aliases: []string{"max-attempts"}, Value: "N", Default: "all until --timeout, but 100", Usage: "show so many"},
		{Name: "timeout", Value: "D", Default: words.Flag(DefaultTimeout), Usage: "show the attempts until then"},
	}
	own = append(own, Flags("").Only("strategy", "base", "factor", "power", "max-wait",
		"interval", "overshoot", "jitter", "immediate", "initial-delay")...)
	own = append(own, learning.Flags("").Only("learn", "poll-cost", "age", "history")...)
	return append(own,
		argv.Flag{Name: "seed", Value: "N", Usage: "show the waits that poll --seed N draws, not means"},
		argv.Flag{Name: "compare", Value: "LIST", Offers: offeredStrategies, Usage: "show several strategies together"},
		argv.Flag{Name: "until-time", Value: "D", Usage: "count attempts until then, and how late they see"},
		formatFlag(table.Text, table.CSV, table.JSON, table.Markdown),
		argv.Flag{Name: "svg", Value: "FILE", Usage: "write a chart"},
		argv.Flag{Name: "png", Value: "FILE", Usage: "write a chart"},
		argv.HelpFlag(),
	)
}

func offeredStrategies() []argv.Candidate {
	return argv.Candidates(argv.Texts(backoff.Strategies())...)
}

// scheduleOptions are what the flags ask for.
type scheduleOptions struct {
	config     backoff.Config
	table      backoff.Table // without its schedule
	bounded    bool          // the command line says where the table ends
	seed       *rand.Rand    // nil for means
	strategies []backoff.Strategy
	until      time.Duration
	format     string
}

func readSchedule(l *argv.Line) (scheduleOptions, error) {
	if err := learning.RefuseUnlearned(l); err != nil {
		return scheduleOptions{}, err
	}
	config, err := ReadConfig(l, backoff.DefaultBase, backoff.DefaultMaxWait)
	o := scheduleOptions{
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
	if l.Err() != nil {
		err = l.Err()
	}
	return o, err
}

// showSchedule answers with the table.
func showSchedule(ctx context.Context, l *argv.Line, s *term.Streams, o scheduleOptions) (err error) {
	if !o.bounded {
		o.table.Attempts, o.table.Timeout = defaultRows, DefaultTimeout
	}
	if o.table.Schedule, _, err = Schedules(l, o.config); err != nil {
		return err
	}
	rows, err := o.collect(ctx)
	if err != nil {
		return err
	}
	t := timetable{o, rows}
	plot := t.plot()
	files := chartFiles(plot)
	plot.Title = "" // the totals say it
	return put(ctx, l, t, o.format, func() string { return t.totals() + chart.Screen(s, plot) }, files...)
}

// chartFiles are the files that a plot can be written to.
func chartFiles(p chart.Plot) []chartFile {
	return []chartFile{{"svg", func(w io.Writer) error { return chart.SVG(w, p) }}, {"png", p.PNG}}
}

// collect takes the rows together, as many as one can look at.
func (o scheduleOptions) collect(ctx context.Context) ([]row, error) {
	if o.table.Attempts == 0 && o.table.Timeout == 0 {
		return nil, argv.Usagef("a table without an end: give it --attempts or a --timeout")
	}
	var all []row
	for r := range drawn(o.table, o.seed) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(all) == maxRows {
			return nil, argv.Usagef("the table has more than %d rows", maxRows).Hint("give fewer --attempts, or a shorter --timeout")
		}
		all = append(all, row{Row: r, strategy: o.config.Strategy})
	}
	return all, nil
}

// drawn enumerates the rows of t. With a source of jitter their waits are what
// one run draws from it, not means.
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

// A row is an attempt: of a strategy and, where past runs are known, with the
// chances that it sees the end, and that the end has been seen by then.
type row struct {
	backoff.Row
	strategy   backoff.Strategy
	sees, seen float64
}

// attemptColumns describe the rows of a timetable. People see bounds where chance
// has a part.
func attemptColumns(jittered bool) []table.Column[row] {
	columns := []table.Column[row]{{Name: "attempt", Head: "attempt", Value: func(r row) any { return r.Attempt }}}
	for _, c := range []struct {
		name, head, headSeconds string
		of                      func(row) time.Duration
		bound                   bool
	}{
		{"wait_s", "wait", "wait_s", func(r row) time.Duration { return r.Wait }, false},
		{"wait_min_s", "min", "min_s", func(r row) time.Duration { return r.Min }, true},
		{"wait_max_s", "max", "max_s", func(r row) time.Duration { return r.Max }, true},
		{"at_s", "starts at", "at_s", func(r row) time.Duration { return r.At }, false},
	} {
		if c.bound && !jittered {
			c.head, c.headSeconds = "", ""
		}
		columns = append(columns,
			table.Column[row]{Head: c.head, Text: func(r row) string { return words.Duration(c.of(r)) }},
			table.Column[row]{
				Name: c.name, Value: func(r row) any { return words.InSeconds(c.of(r)) },
				Head: c.headSeconds, Text: func(r row) string { return words.Seconds(c.of(r)) },
			})
	}
	return columns
}

// A timetable is the table of one schedule.
type timetable struct {
	scheduleOptions
	rows []row
}

// In sets the table in a format.
func (t timetable) In(format string) (string, error) {
	return table.Table[row]{Columns: attemptColumns(t.jittered()), Rows: t.rows}.In(format)
}

// jittered reports whether chance has a part in any of the rows.
func (t timetable) jittered() bool {
	return slices.ContainsFunc(t.rows, func(r row) bool { return r.Min != r.Max })
}

// totals says what the table comes to.
func (t timetable) totals() string {
	if len(t.rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(t.table.Timeout))
	}
	last := t.rows[len(t.rows)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s in %s", words.Count(len(t.rows), "attempt"), words.WithSeconds(last.At))
	if last.Earliest != last.Latest {
		if t.seed != nil {
			b.WriteString(" as drawn,")
		} else {
			b.WriteString(" on average,")
		}
		fmt.Fprintf(&b, " between %s and %s", words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	fmt.Fprintf(&b, "\n%s\n", describe(t.config))
	switch {
	case len(t.rows) == t.table.Attempts && !t.bounded:
		fmt.Fprintf(&b, "these are the first %d; --attempts or --timeout shows others\n", len(t.rows))
	case len(t.rows) != t.table.Attempts:
		fmt.Fprintf(&b, "poll --timeout %s looks once more, just before that\n", words.Flag(t.table.Timeout))
	}
	return b.String()
}

// plot draws the elapsed time against the attempt.
func (t timetable) plot() chart.Plot {
	mean := series("mean", t.rows, func(r row) time.Duration { return r.At })
	p := growthPlot(describe(t.config), mean)
	if t.jittered() {
		p.Series = []chart.Series{
			series("latest", t.rows, func(r row) time.Duration { return r.Latest }),
			mean,
			series("earliest", t.rows, func(r row) time.Duration { return r.Earliest }),
		}
	}
	return p
}

// series is a time of each row.
func series(name string, rows []row, of func(row) time.Duration) chart.Series {
	s := chart.Series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, chart.Point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

// growthPlot is a plot of elapsed times against attempts.
func growthPlot(title string, series ...chart.Series) chart.Plot {
	return chart.Plot{
		Title:  title,
		X:      chart.Axis{Name: "attempt"},
		Y:      chart.Axis{Name: "time since the start", Unit: chart.Seconds},
		Series: series,
	}
}

// describe says in words what the waits are.
func describe(c backoff.Config) string {
	parts := []string{string(c.Strategy), "base " + words.Flag(max(0, c.Base))}
	switch {
	case c.Jitter == backoff.JitterDecorrelated:
		parts = parts[1:]
	case c.Strategy == backoff.StrategyExponential:
		parts = append(parts, "factor "+words.Number(c.Factor))
	case c.Strategy == backoff.StrategyPolynomial:
		parts = append(parts, "power "+words.Number(c.Power))
	}
	return strings.Join(append(parts, describeBounds(c)...), ", ")
}

func describeBounds(c backoff.Config) []string {
	var parts []string
	if c.Jitter == backoff.JitterAuto && c.Strategy == backoff.StrategyPolynomial {
		parts = append(parts, words.Percent(backoff.RailsSpread)+" spread")
	}
	if c.Jitter != backoff.JitterAuto && c.Jitter != backoff.JitterNone {
		parts = append(parts, string(c.Jitter)+" jitter")
	}
	if c.MaxWait > 0 {
		parts = append(parts, "no wait above "+words.Flag(c.MaxWait))
	}
	return parts
}
