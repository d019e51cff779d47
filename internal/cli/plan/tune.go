package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
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
	g, err := readGoal(l)
	if err != nil {
		return err
	}
	t := judge(g)
	text := t.text()
	if l.Choice("format") == table.JSON {
		if text, err = t.json(); err != nil {
			return err
		}
	}
	return l.Write(ctx, text)
}

// A goal describes the waits wanted, and the factor that yields them.
type goal struct {
	overshoot float64       // 0 if a wait is wanted
	wait, at  time.Duration // 0 if an overshoot is wanted
	base      time.Duration
	until     time.Duration
	factor    float64
}

func readGoal(l *argv.Line) (g goal, err error) {
	if err := checkGoal(l); err != nil {
		return g, err
	}
	g = goal{
		base:      l.Duration("base", backoff.DefaultBase),
		overshoot: l.Percent("overshoot"),
		wait:      l.Duration("wait", 0),
		at:        l.Duration("at", 0),
	}
	g.until = l.Duration("timeout", cmp.Or(g.at, DefaultTimeout))
	l.Choice("format")
	switch {
	case l.Err() != nil:
		return g, l.Err()
	case g.base == 0:
		return g, argv.Usagef("--base: 0 never grows")
	case g.until == 0 && l.Has("timeout"):
		return g, argv.Usagef("--timeout: 0 leaves no time to judge")
	}
	g.factor, err = chooseFactor(l, g)
	return g, err
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

// A tuning tells what a factor costs in attempts, and how promptly it notices an end, by a
// given time.
type tuning struct {
	goal
	own, doubling growth
	attempts      int // by then, at most 2^31 - 1
	other         int // what it would be with a factor of 2
	last          time.Duration
	next          time.Duration // the wait after it, the longest time for which an end goes unnoticed
}

func judge(g goal) tuning {
	t := tuning{goal: g, own: growth{Base: g.base, Factor: g.factor}, doubling: growth{Base: g.base, Factor: 2}}
	t.attempts, t.other = t.own.attemptsBy(g.until), t.doubling.attemptsBy(g.until)
	t.last, t.next = t.own.start(t.attempts), t.own.wait(t.attempts)
	return t
}

func (t tuning) json() (string, error) {
	return table.Table[tuning]{
		Columns: []table.Column[tuning]{
			{Name: "factor", Value: func(t tuning) any { return t.factor }},
			{Name: "attempts", Value: func(t tuning) any { return t.attempts }},
			{Name: "attempts_factor_2", Value: func(t tuning) any { return t.other }},
			{Name: "next_wait_s", Value: func(t tuning) any { return words.InSeconds(t.next) }},
		},
		Rows: []tuning{t},
	}.Object()
}

func (t tuning) text() string {
	var b strings.Builder
	meaning := "all waits are alike"
	if t.factor != 1 {
		meaning = fmt.Sprintf("each wait is about %s of the time already waited", words.Percent(t.factor-1))
	}
	fmt.Fprintf(&b, "factor %s: %s\n\n%s", rounded(t.factor), meaning, t.formulas())
	b.WriteString("\n" + t.around() + "\n")
	fmt.Fprintf(&b, "%s by %s; factor 2 makes %d%s\n", words.Count(t.attempts, "attempt"), words.WithSeconds(t.until), t.other, t.ratio())
	fmt.Fprintf(&b, "a completion near then is seen at most %s later; with factor 2, %s\n",
		words.WithSeconds(t.next), words.WithSeconds(t.doubling.wait(t.other)))
	fmt.Fprintf(&b, "\npoll %s\n", t.flags())
	return b.String()
}

// formulas shows the formulas of the series with the numbers filled in. Times are
// in seconds.
func (t tuning) formulas() string {
	a, r, until := words.Seconds(t.base), rounded(t.factor), words.Seconds(t.until)
	var b strings.Builder
	if t.wait > 0 {
		fmt.Fprintf(&b, "  r      = 1 + (wait - a) / at = 1 + (%s - %s) / %s = %s\n", words.Seconds(t.wait), a, words.Seconds(t.at), r)
	} else {
		fmt.Fprintf(&b, "  r      = 1 + overshoot = 1 + %s = %s\n", words.Number(t.overshoot), r)
	}
	if t.factor == 1 {
		fmt.Fprintf(&b, "  n      = T / a = %s / %s, rounded down: %d\n", until, a, t.attempts)
		fmt.Fprintf(&b, "  T_%-4d = a n = %s * %d = %s s\n", t.attempts, a, t.attempts, words.Seconds(t.last))
		fmt.Fprintf(&b, "  next   = a = %s s\n", words.Seconds(t.next))
		return b.String()
	}
	less := rounded(t.factor - 1)
	fmt.Fprintf(&b, "  n      = log(1 + (r - 1) T / a) / log r = log(1 + %s * %s / %s) / log %s, rounded down: %d\n", less, until, a, r, t.attempts)
	fmt.Fprintf(&b, "  T_%-4d = a (r^n - 1) / (r - 1) = %s * (%s^%d - 1) / %s = %s s\n", t.attempts, a, r, t.attempts, less, words.Seconds(t.last))
	fmt.Fprintf(&b, "  next   = a + (r - 1) T_n = %s + %s * %s = %s s\n", a, less, words.Seconds(t.last), words.Seconds(t.next))
	return b.String()
}

// rounded formats a number with ten decimals, which hides the rounding of 1.1 - 1.
func rounded(n float64) string { return words.Number(math.Round(n*1e10) / 1e10) }

func (t tuning) around() string {
	const before, after = 3, 2
	var near []row
	for n := max(1, t.attempts-before+1); n <= t.attempts+after; n++ {
		wait, at := t.own.wait(n-1), t.own.start(n)
		near = append(near, row{Row: backoff.Row{Attempt: n, Wait: wait, At: at}})
	}
	return timetable(near).String()
}

// ratio compares the attempts with those of factor 2, here and in the long run.
func (t tuning) ratio() string {
	if t.other == 0 || t.attempts == 0 {
		return ""
	}
	text := ", as many"
	if t.attempts != t.other {
		text = fmt.Sprintf(", so that is %.3g times as many", float64(t.attempts)/float64(t.other))
	}
	if t.factor == 1 || t.factor == 2 {
		return text
	}
	return text + fmt.Sprintf(" (in the long run log 2 / log r = %.3g times)", math.Ln2/math.Log(t.factor))
}

// flags returns the flags that make poll wait like this.
func (t tuning) flags() string {
	growth := fmt.Sprintf("--factor %s --max-wait 0", words.Number(t.factor))
	if t.overshoot > 0 {
		growth = fmt.Sprintf("--overshoot %s%%", rounded(100*t.overshoot))
	}
	return fmt.Sprintf("--base %s %s --timeout %s", words.Flag(t.base), growth, words.Flag(t.until))
}
