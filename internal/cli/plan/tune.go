package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// TuneCommand returns the command that chooses a factor.
func TuneCommand() *argv.Command {
	return &argv.Command{
		Name:    "tune",
		Summary: "choose how fast waits grow",
		About: "poll tune chooses the factor of exponential waits for a goal: waits that are a\n" +
			"fraction of the time already waited (--overshoot), or a given wait at a given\n" +
			"time (--wait, --at). It shows how many attempts that makes until --timeout, how\n" +
			"late a completion is noticed, and the flags for poll.",
		Examples: []argv.Example{
			{Line: "poll tune --overshoot 10% --base 1s --timeout 1000s"},
			{Line: "poll tune --wait 100s --at 1000s --base 1s", About: "at 1000 seconds, wait for 100"},
		},
		Flags: argv.Flags{
			{Name: "overshoot", Value: "PCT", Usage: "the wait wanted, as a fraction of the time so far"},
			{Name: "wait", Value: "D", Usage: "the wait wanted ..."},
			{Name: "at", Value: "D", Usage: "... at this time"},
			{Name: "base", Value: "D", Default: backoff.DefaultBase.String(), Usage: "the first wait"},
			{Name: "timeout", Value: "D", Default: "--at, or " + words.Flag(DefaultTimeout), Usage: "count the attempts until then"},
			formatFlag(table.Text, table.JSON),
			argv.HelpFlag(),
		},
		Conflicts: argv.Conflicting("overshoot", "wait", "at"),
		Run:       tune,
	}
}

func tune(ctx context.Context, l *argv.Line) error {
	t, err := readGoal(l)
	if err == nil {
		err = t.judge()
	}
	if err != nil {
		return err
	}
	a := answer[tuning]{isOne: true, table: table.Table[tuning]{
		Columns: []table.Column[tuning]{
			{Name: "factor", Value: func(t tuning) any { return t.factor }},
			{Name: "attempts", Value: func(t tuning) any { return t.own.attempts }},
			{Name: "attempts_factor_2", Value: func(t tuning) any { return t.doubling.attempts }},
			{Name: "next_wait_s", Value: func(t tuning) any { return words.InSeconds(t.own.next) }},
		},
		Rows: []tuning{t},
	}}
	if l.Choice("format") == table.Text {
		return l.Write(ctx, t.text())
	}
	return a.put(ctx, l, nil, nil)
}

// A tuning is the waits wanted, the factor that yields them, and what it costs in attempts by
// a given time.
type tuning struct {
	overshoot float64       // 0 if a wait is wanted
	wait, at  time.Duration // 0 if an overshoot is wanted
	base      time.Duration
	until     time.Duration
	factor    float64

	own, doubling walk // with that factor, and with 2
}

// With a first wait of a and a factor of r, attempt n of an exponential schedule
// starts at T_n = a (r^n - 1) / (r - 1), and the wait after it is a + (r - 1) T_n.
// In the long run that is the share r - 1 of the time already waited, so the factor
// follows from the share that is acceptable, and the number of attempts from the
// time: n = log_r(1 + (r - 1) T_n / a).
//
//	a = 1s, r = 2      T_10 = 1023s      next wait 1024s
//	a = 1s, r = 1.1    T_48 = 960.172s   next wait 97.017s

func readGoal(l *argv.Line) (t tuning, err error) {
	if err := checkGoal(l); err != nil {
		return t, err
	}
	t = tuning{
		base:      l.Duration("base", backoff.DefaultBase),
		overshoot: l.Percent("overshoot"),
		wait:      l.Duration("wait", 0),
		at:        l.Duration("at", 0),
	}
	t.until = l.Duration("timeout", cmp.Or(t.at, DefaultTimeout))
	l.Choice("format")
	switch {
	case l.Err() != nil:
		return t, l.Err()
	case t.base == 0:
		return t, argv.Usagef("--base: 0 never grows")
	case t.until == 0 && l.Has("timeout"):
		return t, argv.Usagef("--timeout: 0 leaves no time to judge")
	case t.overshoot > 0:
		t.factor = 1 + t.overshoot
		return t, nil
	case t.wait < t.base:
		return t, argv.Usagef("%s: %v is below the first wait of %v", l.Origin("wait"), t.wait, t.base)
	case t.at <= 0:
		return t, argv.Usagef("%s: %v is not above 0", l.Origin("at"), t.at)
	}
	t.factor = 1 + float64(t.wait-t.base)/float64(t.at)
	return t, nil
}

// checkGoal refuses half a goal, or none.
func checkGoal(l *argv.Line) error {
	const example = "poll tune --overshoot 10%%   or   poll tune --wait 100s --at 1000s"
	switch {
	case l.Has("wait") && !l.Has("at"):
		return argv.Usagef("--wait needs --at: when is that wait wanted?").Hint(example)
	case l.Has("at") && !l.Has("wait"):
		return argv.Usagef("--at needs --wait: which wait is wanted then?").Hint(example)
	case !l.Has("overshoot") && !l.Has("wait"):
		return argv.Usagef("nothing to tune for").Hint(example)
	}
	return nil
}

// A walk is the attempts of exponential waits by a given time, and two more.
type walk struct {
	rows     []row
	attempts int // by that time
	last     time.Duration
	next     time.Duration // the wait after it, the longest time for which an end goes unnoticed
}

func newWalk(base time.Duration, factor float64, until time.Duration) (w walk, err error) {
	const more = 2
	attempts := backoff.Table{Schedule: backoff.Exponential{Base: base, Factor: factor}}.Rows()
	w.rows, err = collect(func(yield func(backoff.Row) bool) {
		for r := range attempts {
			if r.At <= until {
				w.attempts, w.last = r.Attempt, r.At
			}
			if !yield(r) || r.Attempt == w.attempts+more {
				return
			}
		}
	})
	if err == nil {
		w.next = w.rows[w.attempts].Wait
	}
	return w, err
}

func (t *tuning) judge() (err error) {
	if t.own, err = newWalk(t.base, t.factor, t.until); err == nil {
		t.doubling, err = newWalk(t.base, 2, t.until)
	}
	return err
}

// text returns what people are told, with the attempts near the time.
func (t tuning) text() string {
	const before = 3
	meaning := "all waits are alike"
	if t.factor != 1 {
		meaning = fmt.Sprintf("each wait is about %s of the time already waited", words.Percent(t.factor-1))
	}
	return fmt.Sprintf("factor %s: %s\n\n%s\n%s by %s; factor 2 makes %d\n"+
		"a completion near then is seen at most %s later; with factor 2, %s\n\npoll %s\n",
		rounded(t.factor), meaning, timetable(t.own.rows[max(0, t.own.attempts-before):]),
		words.Count(t.own.attempts, "attempt"), words.WithSeconds(t.until), t.doubling.attempts,
		words.WithSeconds(t.own.next), words.WithSeconds(t.doubling.next), t.flags())
}

// rounded formats a number with ten decimals, which hides the rounding of 1.1 - 1.
func rounded(n float64) string { return words.Number(math.Round(n*1e10) / 1e10) }

// flags returns the flags that make poll wait like this.
func (t tuning) flags() string {
	growth := fmt.Sprintf("--factor %s --max-wait 0", words.Number(t.factor))
	if t.overshoot > 0 {
		growth = fmt.Sprintf("--overshoot %s%%", rounded(100*t.overshoot))
	}
	return fmt.Sprintf("--base %s %s --timeout %s", words.Flag(t.base), growth, words.Flag(t.until))
}
