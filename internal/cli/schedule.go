package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/words"
)

func scheduleCommand() *command {
	return &command{
		name:    "schedule",
		summary: "how often and how long a wait would poll",
		about: "poll schedule shows the waits that the same flags give poll: before each attempt\n" +
			"the wait (with jitter its mean and bounds), and when the attempt starts.\n" +
			"Attempts are taken to last no time, and answers to ask for no other wait.",
		examples: []example{
			{"poll schedule --timeout 10m --interval 30s", "how many attempts are that?"},
			{"poll schedule --overshoot 10% --until-time 1h", "how late is a completion after an hour seen?"},
			{"poll schedule --compare exponential,fixed,polynomial --svg growth.svg", ""},
			{"poll schedule --learn deploy --svg deploy.svg", "where past runs say that it will end, and the attempts"},
			{"poll schedule --strategy polynomial --base 1s --max-wait 0 --attempts 25", "the table of Rails' polynomially_longer"},
		},
		flags: scheduleFlags(),
		run:   (*invocation).runSchedule,
	}
}

// The rows that are shown where nobody says how many.
const (
	defaultRows    = 100 // until the default timeout
	defaultCompare = 10
	// maxRows keeps a slip of the finger from filling the memory.
	maxRows = 100_000
)

func offeredStrategies() []candidate { return candidates(names(backoff.Strategies())...) }

func scheduleFlags() flags {
	own := flags{
		{name: "attempts", aliases: []string{"max-attempts"}, value: "N", def: "all until --timeout, but 100", usage: "show so many"},
		{name: "timeout", value: "D", def: words.Flag(defaultTimeout), usage: "show the attempts until then"},
	}
	own = append(own, mainFlags().only("strategy", "base", "factor", "power", "max-wait",
		"interval", "overshoot", "jitter", "immediate", "initial-delay", "learn", "poll-cost", "age", "history")...)
	return append(own,
		flag{name: "seed", value: "N", usage: "show the waits that poll --seed N draws, not means"},
		flag{name: "compare", value: "LIST", offers: offeredStrategies, usage: "show several strategies together"},
		flag{name: "until-time", value: "D", usage: "count attempts until then, and how late they see"},
		formatFlag(formatTable, formatCSV, formatJSON, formatMarkdown),
		flag{name: "svg", value: "FILE", usage: "write a chart"},
		flag{name: "png", value: "FILE", usage: "write a chart"},
		helpFlag(),
	)
}

// scheduleConflicts are those that poll schedule has beside the main command's.
func scheduleConflicts() []conflict {
	return []conflict{
		{"compare", "strategy", ""}, {"compare", "interval", ""}, {"compare", "overshoot", ""},
		{"compare", "seed", ""}, {"compare", "until-time", ""}, {"until-time", "seed", ""},
		{"until-time", "svg", ""}, {"until-time", "png", ""},
		{"compare", "learn", ""}, {"until-time", "learn", ""},
	}
}

func (in *invocation) runSchedule() error {
	if err := in.takesNoOperand(); err != nil {
		return err
	}
	if err := in.split.resolve(append(conflicts(), scheduleConflicts()...)); err != nil {
		return err
	}
	if err := in.refuseUnlearned(); err != nil {
		return err
	}
	q, err := in.timetableQuestion()
	if err != nil {
		return err
	}
	switch {
	case in.split.has("compare"):
		return in.compareSchedules(q)
	case in.split.has("learn"):
		return in.showLearned(q)
	case in.split.has("until-time"):
		return in.coverSchedule(q)
	}
	return in.showSchedule(q)
}

// A timetableQuestion is what the flags ask for.
type timetableQuestion struct {
	config     backoff.Config
	table      backoff.Table // without its schedule
	seed       *rand.Rand    // nil for means
	strategies []backoff.Strategy
	until      time.Duration
	format     string
}

func (in *invocation) timetableQuestion() (timetableQuestion, error) {
	v := in.values
	config, err := in.schedule(backoff.DefaultBase, backoff.DefaultMaxWait)
	q := timetableQuestion{
		config: config,
		table: backoff.Table{
			Attempts:     v.count("attempts", 0, 0),
			Timeout:      v.duration("timeout", 0),
			Immediate:    in.immediate(),
			InitialDelay: v.duration("initial-delay", 0),
		},
		seed:   in.source(),
		until:  v.duration("until-time", 0),
		format: in.format(),
	}
	if in.split.has("compare") {
		q.strategies = in.comparedStrategies()
	}
	if v.err != nil {
		err = v.err
	}
	return q, err
}

// scheduleOf builds the schedule that flags describe.
func (in *invocation) scheduleOf(c backoff.Config) (backoff.Schedule, error) {
	own, _, err := c.Schedules()
	if err != nil {
		return nil, in.badParameter(err)
	}
	return own, nil
}

// showSchedule answers with the table.
func (in *invocation) showSchedule(q timetableQuestion) error {
	if !in.bounded() {
		q.table.Attempts, q.table.Timeout = defaultRows, defaultTimeout
	}
	var err error
	if q.table.Schedule, err = in.scheduleOf(q.config); err != nil {
		return err
	}
	rows, err := in.collect(q.table, q.seed)
	if err != nil {
		return err
	}
	t := timetable{config: q.config, table: q.table, rows: rows}
	return in.putTable(t, t.plot(), q.format, func() string {
		drawn := t.plot()
		drawn.Title = "" // the totals say it
		return in.totals(t) + chart.Screen(in.Streams, drawn)
	})
}

// formatted is what can be set in each of the formats.
type formatted interface {
	in(format string) (string, error)
}

// putTable writes a table in a format, and its plot to the files that are asked
// for. Below a table for people stands what below returns.
func (in *invocation) putTable(t formatted, plot chart.Plot, format string, below func() string) error {
	pictures := []picture{{"svg", plot.SVG}, {"png", plot.PNG}}
	if err := in.checkPictures(pictures...); err != nil {
		return err
	}
	text, err := t.in(format)
	if err != nil {
		return err
	}
	if format == formatTable {
		text += below()
	}
	return errors.Join(in.writeOut(text), in.writePictures(pictures...))
}

// bounded reports whether the command line says where the table ends.
func (in *invocation) bounded() bool { return in.split.has("attempts") || in.split.has("timeout") }

// collect takes the rows together, as many as one can look at.
func (in *invocation) collect(t backoff.Table, seed *rand.Rand) ([]backoff.Row, error) {
	if t.Attempts == 0 && t.Timeout == 0 {
		return nil, usagef("a table without an end: give it --attempts or a --timeout")
	}
	var all []backoff.Row
	for row := range runOf(t, seed) {
		if in.ctx.Err() != nil {
			return nil, context.Cause(in.ctx)
		}
		if len(all) == maxRows {
			return nil, usagef("the table has more than %d rows", maxRows).hint("give fewer --attempts, or a shorter --timeout")
		}
		all = append(all, row)
	}
	return all, nil
}

// runOf enumerates the rows of t. With a source of jitter their waits are what
// one run draws from it, not means.
func runOf(t backoff.Table, r *rand.Rand) iter.Seq[backoff.Row] {
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

// A timetable is the table of one schedule.
type timetable struct {
	config backoff.Config
	table  backoff.Table
	rows   []backoff.Row
}

// in sets the table in a format.
func (t timetable) in(format string) (string, error) {
	switch format {
	case formatJSON:
		records := make([]rowRecord, len(t.rows))
		for i, r := range t.rows {
			records[i] = recordOf(r)
		}
		return jsonList(records)
	case formatCSV:
		return t.data().csv(), nil
	case formatMarkdown:
		return t.sheet().markdown(), nil
	}
	return t.sheet().text(), nil
}

// A rowRecord is a row as JSON.
type rowRecord struct {
	Attempt int     `json:"attempt"`
	Wait    float64 `json:"wait_s"`
	Min     float64 `json:"wait_min_s"`
	Max     float64 `json:"wait_max_s"`
	At      float64 `json:"at_s"`
}

func recordOf(r backoff.Row) rowRecord {
	return rowRecord{r.Attempt, words.InSeconds(r.Wait), words.InSeconds(r.Min), words.InSeconds(r.Max), words.InSeconds(r.At)}
}

// data is the table for programs.
func (t timetable) data() *sheet {
	s := &sheet{header: []string{"attempt", "wait_s", "wait_min_s", "wait_max_s", "at_s"}}
	for _, r := range t.rows {
		s.add(strconv.Itoa(r.Attempt), words.Number(words.InSeconds(r.Wait)), words.Number(words.InSeconds(r.Min)),
			words.Number(words.InSeconds(r.Max)), words.Number(words.InSeconds(r.At)))
	}
	return s
}

// sheet is the table for people.
func (t timetable) sheet() *sheet {
	s := &sheet{header: []string{"attempt", "wait", "wait_s"}}
	jittered := t.jittered()
	if jittered {
		s.header = append(s.header, "min", "min_s", "max", "max_s")
	}
	s.header = append(s.header, "starts at", "at_s")
	for _, r := range t.rows {
		times := []time.Duration{r.Wait, r.At}
		if jittered {
			times = []time.Duration{r.Wait, r.Min, r.Max, r.At}
		}
		cells := []string{strconv.Itoa(r.Attempt)}
		for _, d := range times {
			cells = append(cells, words.Duration(d), words.Seconds(d))
		}
		s.add(cells...)
	}
	return s
}

// jittered reports whether chance has a part in any of the rows.
func (t timetable) jittered() bool {
	for _, r := range t.rows {
		if r.Min != r.Max {
			return true
		}
	}
	return false
}

// totals says what the table comes to.
func (in *invocation) totals(t timetable) string {
	if len(t.rows) == 0 {
		return fmt.Sprintf("\nno attempt starts by %s; poll itself looks once just before its timeout\n", words.Duration(t.table.Timeout))
	}
	last := t.rows[len(t.rows)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s in %s", words.Count(len(t.rows), "attempt"), words.WithSeconds(last.At))
	if last.Earliest != last.Latest {
		if in.split.has("seed") {
			b.WriteString(" as drawn,")
		} else {
			b.WriteString(" on average,")
		}
		fmt.Fprintf(&b, " between %s and %s", words.Duration(last.Earliest), words.Duration(last.Latest))
	}
	fmt.Fprintf(&b, "\n%s\n", describe(t.config))
	switch {
	case len(t.rows) == t.table.Attempts && !in.bounded():
		fmt.Fprintf(&b, "these are the first %d; --attempts or --timeout shows others\n", len(t.rows))
	case len(t.rows) != t.table.Attempts:
		fmt.Fprintf(&b, "poll --timeout %s looks once more, just before that\n", words.Flag(t.table.Timeout))
	}
	return b.String()
}

// plot draws the elapsed time against the attempt.
func (t timetable) plot() chart.Plot {
	mean := chart.Series{Name: "mean"}
	early, late := chart.Series{Name: "earliest"}, chart.Series{Name: "latest"}
	for _, r := range t.rows {
		x := float64(r.Attempt)
		mean.Points = append(mean.Points, chart.Point{X: x, Y: words.InSeconds(r.At)})
		early.Points = append(early.Points, chart.Point{X: x, Y: words.InSeconds(r.Earliest)})
		late.Points = append(late.Points, chart.Point{X: x, Y: words.InSeconds(r.Latest)})
	}
	p := growthPlot(describe(t.config), mean)
	if t.jittered() {
		p.Series = []chart.Series{late, mean, early}
	}
	return p
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
