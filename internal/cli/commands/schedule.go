package commands

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	fit "github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
)

// Schedule returns the command that shows when a wait would make its attempts.
func Schedule(s *term.Streams) *argv.Command {
	q := &scheduleQuery{streams: s}
	return &argv.Command{
		HasVariables: true,
		Summary:      "see when a wait would poll",
		Flags:        q.flags(),
		Into:         []any{q, &q.output, &q.waits, &q.past},
		Run:          q.run,
	}
}

// The default number of rows in a table, and for each strategy in a comparison.
const (
	defaultRows    = 100
	defaultCompare = 10
)

// A scheduleQuery holds the settings of the command "poll schedule".
type scheduleQuery struct {
	output
	streams  *term.Streams
	waits    read.Waits
	past     learn.Flags
	compared []string // the strategies to compare; nil shows a single schedule

	table   table // the settings of the table, without its schedule
	bounded bool  // whether the user has set a limit of the table
}

func (q *scheduleQuery) flags() argv.Flags {
	waits := read.WaitsTable()
	waits.Lookup("seed").Usage = "show the waits of poll --seed N, not averages"
	return slices.Concat(argv.Flags{
		{Name: "attempts", Aliases: []string{"max-attempts"}, Value: "N", Default: "until --timeout, at most 100", Set: argv.Parsed(argv.ParseCount(0), func(q *scheduleQuery, v int) { q.table.attempts = v }), Usage: "how many attempts to show"},
		{Name: "timeout", HasVariable: true, Value: "D", Default: asFlag(read.DefaultTimeout), Set: argv.Parsed(argv.ParseDuration, func(q *scheduleQuery, v time.Duration) { q.table.timeout = v }), Usage: "show the attempts until then"},
	}, waits, learn.Table().Only("learn", "poll-cost", "age", "history"), argv.Flags{
		{Name: "compare", Value: "LIST", Offers: read.Strategies, Set: argv.Parsed(argv.ParseList(argv.ParseWord(read.Strategies())), func(q *scheduleQuery, v []string) { q.compared = v }), Not: "strategy interval overshoot seed learn", Usage: "show several strategies together"},
	}, outputTable("write a chart"))
}

func (q *scheduleQuery) run(ctx context.Context, l *argv.Line) error {
	q.table.immediate, q.table.initialDelay = q.waits.AtOnce(), q.waits.InitialDelay
	q.bounded = l.Has("attempts") || l.Has("timeout")
	if q.bounded && q.table.attempts == 0 && q.table.timeout == 0 {
		return argv.Usagef("the table would have no end: give --attempts or --timeout")
	}
	model, err := recall(q.past, l, q.streams, q.waits)
	if err != nil {
		return err
	}
	var a answer
	switch {
	case q.compared != nil:
		a = q.comparison()
	case model != nil:
		a = q.learned(model)
	default:
		a = q.attempts()
	}
	if err = cmp.Or(checkLength(len(a.columns[0].texts)), q.output.check()); err != nil {
		return err
	}
	return a.write(ctx, l, &q.output)
}

// bound sets the limits of the table to attempts and timeout, unless the user has set a limit.
func (q *scheduleQuery) bound(attempts int, timeout time.Duration) {
	if !q.bounded {
		q.table.attempts, q.table.timeout = attempts, timeout
	}
}

func (q *scheduleQuery) resolved() read.Waits {
	return q.waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait)
}

// comparison returns a table with the attempts of several strategies.
func (q *scheduleQuery) comparison() answer {
	q.bound(defaultCompare, 0)
	var all []row
	var names []string // the strategy of each row
	var lines []series
	for _, name := range q.compared {
		q.waits.Strategy = name
		rows := q.rows(q.resolved().Schedules())
		all, names = append(all, rows...), append(names, slices.Repeat([]string{name}, len(rows))...)
		lines = append(lines, seriesOf(name, rows, startOf))
	}
	a := timetable("growth of the strategies, base "+asFlag(q.resolved().Base), all, lines...)
	strategy := columnOf("strategy", "strategy", names, func(name string) (string, any) { return name, name })
	a.columns = slices.Insert(a.columns, 0, strategy)
	return a
}

// attempts returns a table with the attempts of a wait.
func (q *scheduleQuery) attempts() answer {
	q.bound(defaultRows, read.DefaultTimeout)
	w := q.resolved()
	rows := q.rows(w.Schedules())
	lines := []series{seriesOf(w.Strategy, rows, startOf)}
	if jittered(rows) {
		lines = []series{
			seriesOf("latest", rows, func(r row) time.Duration { return r.Latest }),
			seriesOf("earliest", rows, func(r row) time.Duration { return r.Earliest }),
			seriesOf("mean", rows, startOf),
		}
	}
	a := timetable("when the attempts start: "+describe(w), rows, lines...)
	a.below = q.totals(rows)
	return a
}

// learned returns a table with the attempts of a schedule that the model m has learned from past runs. For each
// attempt, the table shows the probability that this attempt is the first to find the run ended. If the run has
// already started, this is the probability under the condition that the run has not ended yet.
func (q *scheduleQuery) learned(m *fit.Model) answer {
	q.bound(defaultRows, max(1, m.Quantile(0.95)-m.Age(0))) // 95% of the runs end within this time
	rows := q.rows(q.waits.Learned(m, nil))
	name := term.Line(q.past.Learn)
	a := timetable("the attempts of the next run of "+name, rows, seriesOf("attempts", rows, startOf))
	a.below = fmt.Sprintf("\nlearned from %s of %s, half of which take less than %s\n",
		words.Count(m.Runs(), "run"), name, words.Duration(m.Quantile(0.5).Round(time.Millisecond)))
	alive, before := max(1-m.Done(m.Age(0)), math.SmallestNonzeroFloat64), 0.0
	var each, all []float64
	for _, r := range rows {
		seen := 1 - (1-m.Done(m.Age(r.At)))/alive
		each, all, before = append(each, seen-before), append(all, seen), seen
	}
	chance := func(p float64) (string, any) { return fmt.Sprintf("%.1f%%", 100*p), math.Round(1e4*p) / 1e4 }
	a.columns = append(a.columns, columnOf("sees the end", "sees", each, chance), columnOf("by then", "seen", all, chance))
	return a
}

// rows returns the attempts with the schedule s, which is the first result of [read.Waits.Schedules].
func (q *scheduleQuery) rows(s, _ backoff.Schedule) []row {
	t := q.table
	t.schedule, t.rand = s, q.waits.Rand(0)
	return t.rows()
}

// totals returns the text below the table, which summarizes its rows.
func (q *scheduleQuery) totals(rows []row) string {
	if len(rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself checks once just before its timeout\n", words.Duration(q.table.timeout))
	}
	last := rows[len(rows)-1]
	text := fmt.Sprintf("\n%s in %s", words.Count(len(rows), "attempt"), words.Duration(last.At))
	if last.Earliest != last.Latest {
		text += fmt.Sprintf(" on average, between %s and %s", words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	text += "\n" + describe(q.resolved()) + "\n"
	switch {
	case len(rows) != q.table.attempts:
		text += fmt.Sprintf("poll --timeout %s checks once more, just before that\n", asFlag(q.table.timeout))
	case !q.bounded:
		text += fmt.Sprintf("these are the first %d; --attempts or --timeout shows others\n", len(rows))
	}
	return text
}

// timetable returns a table and a chart of attempts. The text for people shows the minimum and maximum of each
// wait only if the waits are random.
func timetable(title string, rows []row, lines ...series) (a answer) {
	y := axis{Name: "time since the start", seconds: true}
	a.plots = []plot{{Title: title, X: axis{Name: "attempt"}, Y: y, Series: lines}}
	a.columns = []column{columnOf("attempt", "attempt", rows, func(r row) (string, any) { return strconv.Itoa(r.Attempt), r.Attempt })}
	times := func(heading, seconds, key string, of func(row) time.Duration) {
		if strings.HasPrefix(key, "wait_m") && !jittered(rows) {
			heading, seconds = "", ""
		}
		a.columns = append(a.columns,
			columnOf(heading, "", rows, func(r row) (string, any) { return words.Duration(of(r)), nil }),
			columnOf(seconds, key, rows, func(r row) (string, any) { return secondsText(of(r)), words.InSeconds(of(r)) }))
	}
	times("wait", "wait_s", "wait_s", func(r row) time.Duration { return r.Wait })
	times("min", "min_s", "wait_min_s", func(r row) time.Duration { return r.Min })
	times("max", "max_s", "wait_max_s", func(r row) time.Duration { return r.Max })
	times("starts at", "at_s", "at_s", startOf)
	return a
}

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

func seriesOf(name string, rows []row, of func(row) time.Duration) series {
	s := series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

func startOf(r row) time.Duration { return r.At }

// describe describes the settings that determine the waits, such as "exponential, base 100ms, factor 2".
func describe(w read.Waits) string {
	parts := []string{w.Strategy, "base " + asFlag(w.Base)}
	switch {
	case w.Jitter == read.JitterDecorrelated:
		parts = parts[1:]
	case w.Strategy == read.Exponential:
		parts = append(parts, "factor "+words.Number(w.Factor))
	case w.Strategy == read.Polynomial:
		parts = append(parts, "power "+words.Number(w.Power))
	}
	switch {
	case w.Jitter == read.JitterAuto && w.Strategy == read.Polynomial:
		parts = append(parts, fmt.Sprintf("%g%% spread", 100*read.RailsSpread))
	case w.Jitter != read.JitterAuto && w.Jitter != read.JitterNone:
		parts = append(parts, w.Jitter+" jitter")
	}
	if w.MaxWait > 0 {
		parts = append(parts, "no wait above "+asFlag(w.MaxWait))
	}
	return strings.Join(parts, ", ")
}

// Tune returns the command that helps to choose the growth of exponential waits.
func Tune() *argv.Command {
	t := &tuning{base: backoff.DefaultBase}
	return &argv.Command{
		Summary: "choose how fast waits grow",
		Flags: argv.Flags{
			{Name: "overshoot", Value: "PCT", Set: argv.Parsed(argv.ParsePercent, func(t *tuning, v float64) { t.overshoot = v }), Not: "wait at", Usage: "the wait that you want, as a fraction of the time so far"},
			{Name: "wait", Value: "D", Set: argv.Parsed(read.ParsePositive, func(t *tuning, v time.Duration) { t.wait = v }), Needs: "at", Usage: "the wait that you want at the time --at"},
			{Name: "at", Value: "D", Set: argv.Parsed(read.ParsePositive, func(t *tuning, v time.Duration) { t.at = v }), Needs: "wait", Usage: "the time of --wait"},
			{Name: "base", Value: "D", Default: backoff.DefaultBase.String(), Set: argv.Parsed(read.ParsePositive, func(t *tuning, v time.Duration) { t.base = v }), Usage: "the first wait"},
			{Name: "timeout", Value: "D", Default: "--at, or " + asFlag(read.DefaultTimeout), Set: argv.Parsed(read.ParsePositive, func(t *tuning, v time.Duration) { t.until = v }), Usage: "count the attempts until then"},
		},
		Into: []any{t},
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := t.text()
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

// A tuning holds the requirement of poll tune: either the largest overshoot, or the wait at a given time. The
// overshoot is the time from the end of the operation to the attempt that notices the end.
type tuning struct {
	overshoot float64       // the wait as a share of the elapsed time; 0 if wait is set
	wait, at  time.Duration // wait is the required wait when the time at has passed; both are 0 if overshoot is set
	base      time.Duration
	until     time.Duration // the time until which attempts are counted; 0 means the default
}

// factor returns the growth factor that meets the user's requirement.
//
// With a first wait of a and a factor of r, attempt n of an exponential schedule starts at T_n = a (r^n - 1) / (r
// - 1), and the wait after it is a + (r - 1) T_n. For a large n, this wait is about r - 1 times the elapsed time
// T_n. So the factor follows from the acceptable share of the elapsed time, and the number of attempts follows
// from the time: n = log_r(1 + (r - 1) T_n / a).
//
//	a = 1s, r = 2      T_10 = 1023s      next wait 1024s
//	a = 1s, r = 1.1    T_48 = 960.172s   next wait 97.017s
func (t *tuning) factor() (float64, error) {
	switch {
	case t.overshoot > 0:
		return 1 + t.overshoot, nil
	case t.wait == 0:
		return 0, argv.Usagef("poll tune needs a goal").Hint("poll tune --overshoot 10%%   or   poll tune --wait 100s --at 1000s")
	case t.wait < t.base:
		return 0, argv.Usagef("--wait: %v is below the first wait of %v", t.wait, t.base)
	}
	return 1 + float64(t.wait-t.base)/float64(t.at), nil
}

// text returns the factor, the attempts near the end of the time, and a poll command with flags for these waits.
func (t *tuning) text() (string, error) {
	const before = 3
	factor, err := t.factor()
	if err != nil {
		return "", err
	}
	until := cmp.Or(t.until, t.at, read.DefaultTimeout)
	rows := table{schedule: backoff.Exponential{Base: t.base, Factor: factor}, timeout: until, further: 2}.rows()
	if err := checkLength(len(rows)); err != nil {
		return "", err
	}
	doubled := table{schedule: backoff.Exponential{Base: t.base}, timeout: until, further: 1}.rows()
	n, doubling := len(rows)-2, len(doubled)-1
	meaning := "all waits are equal"
	if factor != 1 {
		meaning = fmt.Sprintf("each wait is about %.4g%% of the time already waited", 100*(factor-1))
	}
	growth := fmt.Sprintf("--factor %s --max-wait 0", words.Number(factor))
	if t.overshoot > 0 {
		growth = fmt.Sprintf("--overshoot %s%%", rounded(100*t.overshoot))
	}
	return fmt.Sprintf("factor %s: %s\n\n%s\n%s by %s; factor 2 makes %d\n"+
		"an end near then is noticed at most %s later; with factor 2, %s\n\n"+
		"poll --base %s %s --timeout %s\n",
		rounded(factor), meaning, timetable("", rows[max(0, n-before):]).table(), words.Count(n, "attempt"), words.Duration(until), doubling,
		words.Duration(rows[n].Wait), words.Duration(doubled[doubling].Wait), asFlag(t.base), growth, asFlag(until)), nil
}

// rounded formats a number with at most ten decimals, which hides the floating-point error of 1.1 - 1.
func rounded(n float64) string { return words.Number(math.Round(n*1e10) / 1e10) }
