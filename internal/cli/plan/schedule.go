package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/words"
)

// ScheduleCommand returns the command that shows when attempts would come.
func ScheduleCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:         "schedule",
		HasVariables: true,
		Summary:      "see when a wait would poll",
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
		Flags: scheduleFlags(),
		Conflicts: slices.Concat(Conflicts(),
			argv.Conflicting("compare", "strategy", "interval", "overshoot", "seed", "until-time"),
			argv.Conflicting("until-time", "seed", "svg"),
			argv.Conflicting("compare", "learn"), argv.Conflicting("until-time", "learn")),
		Run: func(ctx context.Context, l *argv.Line) error {
			q, err := readSchedule(l)
			switch {
			case err != nil:
				return err
			case l.Has("until-time"):
				a, err := q.cover(l)
				return a.put(ctx, l, s, err)
			case l.Has("learn"):
				a, err := q.learned(l, s)
				return a.put(ctx, l, s, err)
			}
			a, err := q.attempts(l)
			return a.put(ctx, l, s, err)
		},
	}
}

// How many rows are shown by default.
const (
	defaultRows    = 100
	defaultCompare = 10
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
		{Name: "png", Value: "FILE", Hidden: true}, // which is refused
		argv.HelpFlag(),
	})
}

// A scheduleQuery is what the flags of poll schedule ask for.
type scheduleQuery struct {
	config     schedule.Config
	table      backoff.Table // without its schedule
	bounded    bool          // the command line says where the table ends
	seed       *rand.Rand    // nil for means
	strategies []schedule.Strategy
}

func readSchedule(l *argv.Line) (q scheduleQuery, err error) {
	if err := learning.RefuseUnlearned(l); err != nil {
		return q, err
	}
	config, err := ReadConfig(l, backoff.DefaultBase, backoff.DefaultMaxWait)
	q = scheduleQuery{
		config: config,
		table: backoff.Table{
			Attempts:     l.Count("attempts", 0, 0),
			Timeout:      l.Duration("timeout", 0),
			Immediate:    Immediate(l),
			InitialDelay: l.Duration("initial-delay", 0),
		},
		bounded:    l.Has("attempts") || l.Has("timeout"),
		seed:       Source(l),
		strategies: comparedStrategies(l, config.Strategy),
	}
	if err := l.ErrOr(err); err != nil {
		return q, err
	}
	if l.Has("png") {
		return q, argv.Usagef("--png: charts are written as SVG").Hint("--svg FILE.svg, and then rsvg-convert FILE.svg >FILE.png")
	}
	return q, checkOutput(l)
}

// comparedStrategies reads which strategies to show, by default one. It refuses parameters
// that none of those compared has.
func comparedStrategies(l *argv.Line, one schedule.Strategy) []schedule.Strategy {
	if !l.Has("compare") {
		return []schedule.Strategy{one}
	}
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

// attempts answers with the attempts of each strategy.
func (q scheduleQuery) attempts(l *argv.Line) (a answer[row], err error) {
	isComparison := l.Has("compare")
	switch {
	case !q.bounded && isComparison:
		q.table.Attempts = defaultCompare
	case !q.bounded:
		q.table.Attempts, q.table.Timeout = defaultRows, DefaultTimeout
	}
	title := "when the attempts start: " + describe(q.config)
	if isComparison {
		title = "growth of the strategies, base " + words.Flag(max(0, q.config.Base))
	}
	p := growth(title)
	var all []row
	for _, q.config.Strategy = range q.strategies {
		rows, err := q.rows(l)
		if err != nil {
			return a, err
		}
		all = append(all, rows...)
		name := string(q.config.Strategy)
		if !isComparison && jittered(rows) {
			p.Series = append(p.Series,
				series("latest", rows, func(r row) time.Duration { return r.Latest }),
				series("earliest", rows, func(r row) time.Duration { return r.Earliest }))
			name = "mean"
		}
		p.Series = append(p.Series, series(name, rows, func(r row) time.Duration { return r.At }))
	}
	a = answer[row]{table: timetable(all), plots: []plot.Plot{p}}
	if isComparison {
		strategy := table.Column[row]{Name: "strategy", Head: "strategy", Value: func(r row) any { return r.strategy }}
		a.table.Columns = slices.Insert(a.table.Columns, 0, strategy)
	} else {
		a.below = q.totals(all)
	}
	return a, nil
}

// rows returns the attempts of one strategy.
func (q scheduleQuery) rows(l *argv.Line) (rows []row, err error) {
	if q.table.Schedule == nil {
		if q.table.Schedule, _, err = Schedules(l, q.config); err != nil {
			return nil, err
		}
	}
	if q.table.Attempts == 0 && q.table.Timeout == 0 {
		return nil, argv.Usagef("the table would have no end: give --attempts or --timeout")
	}
	attempts := q.table.Rows()
	if q.seed != nil {
		attempts = drawn(q.table, q.seed)
	}
	rows, err = collect(attempts)
	for i := range rows {
		rows[i].strategy = q.config.Strategy
	}
	return rows, err
}

func (q scheduleQuery) totals(rows []row) string {
	if len(rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(q.table.Timeout))
	}
	last := rows[len(rows)-1]
	text := fmt.Sprintf("\n%s in %s", words.Count(len(rows), "attempt"), words.WithSeconds(last.At))
	if last.Earliest != last.Latest {
		how := "on average"
		if q.seed != nil {
			how = "as drawn"
		}
		text += fmt.Sprintf(" %s, between %s and %s", how, words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	text += "\n" + describe(q.config) + "\n"
	switch {
	case len(rows) != q.table.Attempts:
		text += fmt.Sprintf("poll --timeout %s looks once more, just before that\n", words.Flag(q.table.Timeout))
	case !q.bounded:
		text += fmt.Sprintf("these are the first %d; --attempts or --timeout shows others\n", len(rows))
	}
	return text
}
