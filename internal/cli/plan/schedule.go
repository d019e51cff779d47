package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
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
	q := &scheduleQuery{output: output{streams: s}}
	return &argv.Command{
		Name:         "schedule",
		HasVariables: true,
		Summary:      "see when a wait would poll",
		Flags:        q.flags(),
		Conflicts: slices.Concat(schedule.Conflicts(),
			argv.Conflicting("compare", "strategy", "interval", "overshoot", "seed", "until-time"),
			argv.Conflicting("until-time", "seed", "svg"),
			argv.Conflicting("compare", "learn"), argv.Conflicting("until-time", "learn")),
		Run: q.run,
	}
}

// How many rows are shown by default.
const (
	defaultRows    = 100
	defaultCompare = 10
)

// A scheduleQuery is what the flags of poll schedule ask for.
type scheduleQuery struct {
	output
	waits    schedule.Flags
	past     learning.Flags
	count    *int           // of attempts
	timeout  *time.Duration // 0 for none
	compared []string       // strategies
	until    *time.Duration

	config schedule.Config
	table  backoff.Table // without its schedule
}

func (q *scheduleQuery) flags() argv.Flags {
	offered := func() []argv.Candidate { return argv.Candidates(schedule.Strategies()...) }
	waits := q.waits.Table()
	waits.Lookup("power").Needs = "" // --compare names strategies, too
	waits.Lookup("seed").Usage = "show the waits that poll --seed N draws, not means"
	return slices.Concat(argv.Flags{
		{Name: "attempts", Aliases: []string{"max-attempts"}, Value: "N", Default: "until --timeout, at most 100", To: argv.Maybe(&q.count, argv.ParseCount(0)), Usage: "show this many"},
		{Name: "timeout", Value: "D", Default: asFlag(DefaultTimeout), To: argv.Maybe(&q.timeout, argv.ParseDuration), Usage: "show the attempts until then"},
	}, waits, q.past.Table().Only("learn", "poll-cost", "age", "history"), argv.Flags{
		{Name: "compare", Value: "LIST", Offers: offered, To: argv.To(&q.compared, argv.ParseList(argv.ParseWord(schedule.Strategies()))), Usage: "show several strategies together"},
		{Name: "until-time", Value: "D", To: argv.Maybe(&q.until, argv.ParseDuration), Usage: "attempts by then, and how late an end is seen"},
	}, q.output.flags("write a chart", table.CSV, table.JSON, table.Markdown))
}

func (q *scheduleQuery) run(ctx context.Context, l *argv.Line) error {
	q.config = q.waits.Config(backoff.DefaultBase, backoff.DefaultMaxWait)
	q.table = backoff.Table{
		Attempts:     *cmp.Or(q.count, new(int)),
		Timeout:      *cmp.Or(q.timeout, new(time.Duration)),
		Immediate:    q.waits.AtOnce(),
		InitialDelay: q.waits.InitialDelay,
	}
	err := q.check()
	var a answer
	switch {
	case err != nil:
		return err
	case q.compared != nil:
		a, err = q.comparison(l)
	case l.Typed("power") != nil && q.config.Strategy != schedule.Polynomial:
		return argv.Usagef("--power is for --strategy polynomial")
	case q.until != nil:
		a, err = q.cover(l)
	default:
		a, err = q.attempts(l)
	}
	return a.put(ctx, l, &q.output, err)
}

// bound ends the table, unless the command line says where.
func (q *scheduleQuery) bound(attempts int, timeout time.Duration) {
	if !q.bounded() {
		q.table.Attempts, q.table.Timeout = attempts, timeout
	}
}

func (q *scheduleQuery) bounded() bool { return q.count != nil || q.timeout != nil }

// comparison answers with the attempts of several strategies.
func (q *scheduleQuery) comparison(l *argv.Line) (a answer, err error) {
	q.bound(defaultCompare, 0)
	p := growth("growth of the strategies, base " + asFlag(q.config.Base))
	var all []row
	for _, q.config.Strategy = range q.compared {
		rows, err := q.rows(l)
		if err != nil {
			return a, err
		}
		all = append(all, rows...)
		p.Series = append(p.Series, series(q.config.Strategy, rows, startOf))
	}
	t := timetable(all)
	strategy := table.Column[row]{Name: "strategy", Head: "strategy", Value: func(r row) any { return r.strategy }}
	t.Columns = slices.Insert(t.Columns, 0, strategy)
	return answer{table: t, plots: []plot.Plot{p}}, nil
}

// attempts answers with the attempts of a wait.
func (q *scheduleQuery) attempts(l *argv.Line) (a answer, err error) {
	if q.past.Learn != "" {
		options := q.past.Options(&q.waits, q.config)
		m, err := q.past.Recall(l, q.streams, options)
		if m != nil || err != nil {
			return q.learned(l, m, options, err)
		}
	}
	q.bound(defaultRows, DefaultTimeout)
	rows, err := q.rows(l)
	if err != nil {
		return a, err
	}
	p, name := growth("when the attempts start: "+describe(q.config)), q.config.Strategy
	if jittered(rows) {
		name = "mean"
		p.Series = append(p.Series,
			series("latest", rows, func(r row) time.Duration { return r.Latest }),
			series("earliest", rows, func(r row) time.Duration { return r.Earliest }))
	}
	p.Series = append(p.Series, series(name, rows, startOf))
	return answer{table: timetable(rows), below: q.totals(rows), plots: []plot.Plot{p}}, nil
}

// learned answers with the attempts of a learned schedule, and each one's chance of seeing the
// end, provided that the run has not ended at the start.
func (q *scheduleQuery) learned(l *argv.Line, m *learn.Model, o learn.Options, err error) (a answer, _ error) {
	if err != nil {
		return a, err
	}
	q.table.Schedule, _ = learning.Schedules(m, o, q.config.Jitter, nil)
	q.bound(defaultRows, max(1, m.Quantile(0.95)-m.Age(0))) // 19 of 20 runs end by then
	rows, err := q.rows(l)
	alive, before := max(1-m.Done(m.Age(0)), math.SmallestNonzeroFloat64), 0.0
	for i := range rows {
		r := &rows[i]
		r.seen = 1 - (1-m.Done(m.Age(r.At)))/alive
		r.sees, before = r.seen-before, r.seen
	}
	name, t := term.Line(q.past.Learn), timetable(rows)
	t.Columns = append(t.Columns,
		chance("sees", "sees the end", func(r row) float64 { return r.sees }),
		chance("seen", "by then", func(r row) float64 { return r.seen }))
	return answer{
		table: t,
		below: fmt.Sprintf("\nlearned from %s of %s, half of which take less than %s\n",
			words.Count(m.Runs(), "run"), name, words.Duration(m.Quantile(0.5).Round(time.Millisecond))),
		plots: []plot.Plot{growth("the attempts of the next run of "+name, series("attempts", rows, startOf))},
	}, err
}

// rows returns the attempts of one strategy.
func (q *scheduleQuery) rows(l *argv.Line) (rows []row, err error) {
	t := q.table
	if t.Schedule == nil {
		if err := q.config.Check(l); err != nil {
			return nil, err
		}
		t.Schedule, _ = q.config.Schedules()
	}
	if t.Attempts == 0 && t.Timeout == 0 {
		return nil, argv.Usagef("the table would have no end: give --attempts or --timeout")
	}
	attempts := t.Rows()
	if r := q.waits.Rand(); r != nil {
		attempts = drawn(t, r)
	}
	return collect(q.config.Strategy, attempts)
}

func (q *scheduleQuery) totals(rows []row) string {
	if len(rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(q.table.Timeout))
	}
	last := rows[len(rows)-1]
	text := fmt.Sprintf("\n%s in %s", words.Count(len(rows), "attempt"), withSeconds(last.At))
	if last.Earliest != last.Latest {
		how := "on average"
		if q.waits.Seed != nil {
			how = "as drawn"
		}
		text += fmt.Sprintf(" %s, between %s and %s", how, words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	text += "\n" + describe(q.config) + "\n"
	switch {
	case len(rows) != q.table.Attempts:
		text += fmt.Sprintf("poll --timeout %s looks once more, just before that\n", asFlag(q.table.Timeout))
	case !q.bounded():
		text += fmt.Sprintf("these are the first %d; --attempts or --timeout shows others\n", len(rows))
	}
	return text
}
