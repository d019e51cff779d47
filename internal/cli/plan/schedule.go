package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
)

// DefaultTimeout is the default of --timeout. It keeps a CI job from hanging.
const DefaultTimeout = 10 * time.Minute

// ScheduleCommand returns the command that shows when attempts would come.
func ScheduleCommand(s *term.Streams) *argv.Command {
	q := &scheduleQuery{output: output{streams: s}}
	return &argv.Command{
		HasVariables: true,
		Summary:      "see when a wait would poll",
		Flags:        q.flags(),
		Into:         q,
		Run:          q.run,
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
	waits    Waits
	past     Learning
	count    *int           // of attempts
	timeout  *time.Duration // 0 for none
	compared []string       // strategies

	table table // without its schedule
}

func (q *scheduleQuery) flags() argv.Flags {
	offered := func() []argv.Candidate { return argv.Candidates(Strategies()...) }
	waits := argv.Of(WaitsTable(), func(q *scheduleQuery) *Waits { return &q.waits })
	waits.Lookup("seed").Usage = "show the waits that poll --seed N draws, not means"
	return slices.Concat(argv.Flags{
		{Name: "attempts", Aliases: []string{"max-attempts"}, Value: "N", Default: "until --timeout, at most 100", Set: argv.Parsed(argv.ParseCount(0), func(q *scheduleQuery, v int) { q.count = &v }), Usage: "how many attempts to show"},
		{Name: "timeout", HasVariable: true, Value: "D", Default: asFlag(DefaultTimeout), Set: argv.Parsed(argv.ParseDuration, func(q *scheduleQuery, v time.Duration) { q.timeout = &v }), Usage: "show the attempts until then"},
	}, waits, argv.Of(LearningTable().Only("learn", "poll-cost", "age", "history"), func(q *scheduleQuery) *Learning { return &q.past }), argv.Flags{
		{Name: "compare", Value: "LIST", Offers: offered, Set: argv.Parsed(argv.ParseList(argv.ParseWord(Strategies())), func(q *scheduleQuery, v []string) { q.compared = v }), Not: "strategy interval overshoot seed learn", Usage: "show several strategies together"},
	}, argv.Of(outputTable("write a chart"), func(q *scheduleQuery) *output { return &q.output }))
}

func (q *scheduleQuery) run(ctx context.Context, l *argv.Line) error {
	q.table = table{
		attempts:     *cmp.Or(q.count, new(int)),
		timeout:      *cmp.Or(q.timeout, new(time.Duration)),
		immediate:    q.waits.AtOnce(),
		initialDelay: q.waits.InitialDelay,
	}
	show := q.attempts
	switch {
	case q.compared != nil:
		show = q.comparison
	case q.past.Learn != "":
		show = q.learned
	}
	a, err := show(l)
	if err = cmp.Or(err, q.output.check()); err != nil {
		return err
	}
	return a.write(ctx, l, &q.output)
}

// bound sets the end of the table, unless the command line does.
func (q *scheduleQuery) bound(attempts int, timeout time.Duration) {
	if !q.bounded() {
		q.table.attempts, q.table.timeout = attempts, timeout
	}
}

func (q *scheduleQuery) bounded() bool { return q.count != nil || q.timeout != nil }

func (q *scheduleQuery) resolved() Waits {
	return q.waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait)
}

// comparison answers with the attempts of several strategies.
func (q *scheduleQuery) comparison(*argv.Line) (a answer, err error) {
	q.bound(defaultCompare, 0)
	var all []row
	var names []string // of the strategies, by row
	var lines []plot.Series
	for _, name := range q.compared {
		q.waits.Strategy = name
		rows, err := q.rows(q.resolved().Schedules())
		if err != nil {
			return a, err
		}
		all, names = append(all, rows...), append(names, slices.Repeat([]string{name}, len(rows))...)
		lines = append(lines, series(name, rows, startOf))
	}
	a = timetable("growth of the strategies, base "+asFlag(q.resolved().Base), all, lines...)
	a.lines[0] = slices.Insert(a.lines[0], 0, "strategy")
	for i, name := range names {
		a.lines[i+1] = slices.Insert(a.lines[i+1], 0, name)
		a.rows[i].(*rowJSON).Strategy = name
	}
	return a, nil
}

// attempts answers with the attempts of a wait.
func (q *scheduleQuery) attempts(*argv.Line) (a answer, err error) {
	q.bound(defaultRows, DefaultTimeout)
	w := q.resolved()
	rows, err := q.rows(w.Schedules())
	if err != nil {
		return a, err
	}
	lines := []plot.Series{series(w.Strategy, rows, startOf)}
	if jittered(rows) {
		lines = []plot.Series{
			series("latest", rows, func(r row) time.Duration { return r.Latest }),
			series("earliest", rows, func(r row) time.Duration { return r.Earliest }),
			series("mean", rows, startOf),
		}
	}
	a = timetable("when the attempts start: "+w.describe(), rows, lines...)
	a.below = q.totals(rows)
	return a, nil
}

// learned answers with the attempts of a learned schedule, and each one's chance of seeing the
// end, provided that the run has not ended at the start.
func (q *scheduleQuery) learned(l *argv.Line) (a answer, err error) {
	m, err := q.past.recall(l, q.streams, q.waits)
	if err != nil {
		return a, err
	}
	if m == nil {
		return q.attempts(l)
	}
	q.bound(defaultRows, max(1, m.Quantile(0.95)-m.Age(0))) // 19 of 20 runs end by then
	rows, err := q.rows(q.waits.Learned(m, nil))
	if err != nil {
		return a, err
	}
	name := term.Line(q.past.Learn)
	a = timetable("the attempts of the next run of "+name, rows, series("attempts", rows, startOf))
	a.below = fmt.Sprintf("\nlearned from %s of %s, half of which take less than %s\n",
		words.Count(m.Runs(), "run"), name, words.Duration(m.Quantile(0.5).Round(time.Millisecond)))
	a.lines[0] = append(a.lines[0], "sees the end", "by then")
	alive, before := max(1-m.Done(m.Age(0)), math.SmallestNonzeroFloat64), 0.0
	for i, r := range rows {
		seen := 1 - (1-m.Done(m.Age(r.At)))/alive
		a.lines[i+1] = append(a.lines[i+1], fmt.Sprintf("%.1f%%", 100*(seen-before)), fmt.Sprintf("%.1f%%", 100*seen))
		r := a.rows[i].(*rowJSON)
		r.Sees, r.Seen = new(math.Round(1e4*(seen-before))/1e4), new(math.Round(1e4*seen)/1e4)
		before = seen
	}
	return a, nil
}

// rows returns the attempts of one strategy.
func (q *scheduleQuery) rows(s, _ backoff.Schedule) (rows []row, err error) {
	t := q.table
	if t.attempts == 0 && t.timeout == 0 {
		return nil, argv.Usagef("the table would have no end: give --attempts or --timeout")
	}
	if t.schedule = s; q.waits.Seed != nil {
		t.schedule = sampled(s, q.waits.Rand(0))
	}
	rows, _, err = collect(t, math.MaxInt64)
	return rows, err
}

func (q *scheduleQuery) totals(rows []row) string {
	if len(rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(q.table.timeout))
	}
	last := rows[len(rows)-1]
	text := fmt.Sprintf("\n%s in %s", words.Count(len(rows), "attempt"), words.Duration(last.At))
	if last.Earliest != last.Latest {
		text += fmt.Sprintf(" on average, between %s and %s", words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	text += "\n" + q.resolved().describe() + "\n"
	switch {
	case len(rows) != q.table.attempts:
		text += fmt.Sprintf("poll --timeout %s looks once more, just before that\n", asFlag(q.table.timeout))
	case !q.bounded():
		text += fmt.Sprintf("these are the first %d; --attempts or --timeout shows others\n", len(rows))
	}
	return text
}

// maxRows keeps a typing error from filling the memory.
const maxRows = 100_000

// collect returns the rows by a given time, whose number is n, and two more if there are any.
func collect(t table, until time.Duration) (rows []row, n int, err error) {
	for r := range t.rows() {
		if r.At <= until {
			n++
		}
		if len(rows) == maxRows {
			return nil, 0, argv.Usagef("the table has more than %d rows", maxRows)
		}
		if rows = append(rows, r); len(rows) == n+2 {
			break
		}
	}
	return rows, n, nil
}

// sampled returns the schedule of one run of s, whose waits are drawn from r. A table asks for a
// wait several times.
func sampled(s backoff.Schedule, r *rand.Rand) backoff.Schedule {
	waits := map[int]time.Duration{}
	return backoff.ScheduleFunc(func(step backoff.Step, _ *rand.Rand) time.Duration {
		if _, isKnown := waits[step.N]; !isKnown {
			waits[step.N] = s.Wait(step, r)
		}
		return waits[step.N]
	})
}

// A rowJSON is an attempt for programs, in seconds, of one of several strategies, or with its
// chance of seeing the end.
type rowJSON struct {
	Strategy string   `json:"strategy,omitempty"`
	Attempt  int      `json:"attempt"`
	Wait     float64  `json:"wait_s"`
	Min      float64  `json:"wait_min_s"`
	Max      float64  `json:"wait_max_s"`
	At       float64  `json:"at_s"`
	Sees     *float64 `json:"sees,omitempty"`
	Seen     *float64 `json:"seen,omitempty"`
}

// timetable answers with some attempts, and a chart of them. People see bounds if the waits are
// random.
func timetable(title string, rows []row, series ...plot.Series) (a answer) {
	y := plot.Axis{Name: "time since the start", Seconds: true}
	a.plots = []plot.Plot{{Title: title, X: plot.Axis{Name: "attempt"}, Y: y, Series: series}}
	a.lines = [][]string{{"attempt", "wait", "wait_s", "starts at", "at_s"}}
	isRandom := jittered(rows)
	if isRandom {
		a.lines[0] = slices.Insert(a.lines[0], 3, "min", "min_s", "max", "max_s")
	}
	for _, r := range rows {
		times := []time.Duration{r.Wait, r.At}
		if isRandom {
			times = slices.Insert(times, 1, r.Min, r.Max)
		}
		line := []string{strconv.Itoa(r.Attempt)}
		for _, t := range times {
			line = append(line, words.Duration(t), secondsText(t))
		}
		a.lines = append(a.lines, line)
		a.rows = append(a.rows, &rowJSON{
			Attempt: r.Attempt, Wait: words.InSeconds(r.Wait), At: words.InSeconds(r.At),
			Min: words.InSeconds(r.Min), Max: words.InSeconds(r.Max),
		})
	}
	return a
}

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

func series(name string, rows []row, of func(row) time.Duration) plot.Series {
	s := plot.Series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, plot.Point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

func startOf(r row) time.Duration { return r.At }

// describe names what shapes the waits.
func (w Waits) describe() string {
	parts := []string{w.Strategy, "base " + asFlag(w.Base)}
	switch {
	case w.Jitter == JitterDecorrelated:
		parts = parts[1:]
	case w.Strategy == Exponential:
		parts = append(parts, "factor "+words.Number(w.Factor))
	case w.Strategy == Polynomial:
		parts = append(parts, "power "+words.Number(w.Power))
	}
	switch {
	case w.Jitter == JitterAuto && w.Strategy == Polynomial:
		parts = append(parts, fmt.Sprintf("%g%% spread", 100*railsSpread))
	case w.Jitter != JitterAuto && w.Jitter != JitterNone:
		parts = append(parts, w.Jitter+" jitter")
	}
	if w.MaxWait > 0 {
		parts = append(parts, "no wait above "+asFlag(w.MaxWait))
	}
	return strings.Join(parts, ", ")
}
