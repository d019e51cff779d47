package commands

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/words"
)

// Tune returns the command that chooses a factor.
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
		Into: t,
		Run: func(ctx context.Context, l *argv.Line) error {
			text, err := t.text()
			if err != nil {
				return err
			}
			return l.Write(ctx, text)
		},
	}
}

// A tuning holds the required waits: either an overshoot, or one wait at a given time.
type tuning struct {
	overshoot float64       // 0 if wait is set
	wait, at  time.Duration // 0 if overshoot is set
	base      time.Duration
	until     time.Duration // 0 for the default
}

// factor returns the factor that yields the required waits.
//
// With a first wait of a and a factor of r, attempt n of an exponential schedule
// starts at T_n = a (r^n - 1) / (r - 1), and the wait after it is a + (r - 1) T_n.
// In the long run that is the share r - 1 of the time already waited, so the factor
// follows from the share that is acceptable, and the number of attempts from the
// time: n = log_r(1 + (r - 1) T_n / a).
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

// text returns the factor, the attempts near the end, and the flags that give poll these waits.
func (t *tuning) text() (string, error) {
	const before = 3
	factor, err := t.factor()
	if err != nil {
		return "", err
	}
	until := cmp.Or(t.until, t.at, read.DefaultTimeout)
	rows, err := table{schedule: backoff.Exponential{Base: t.base, Factor: factor}, timeout: until, further: 2}.rows()
	if err != nil {
		return "", err
	}
	doubled, err := table{schedule: backoff.Exponential{Base: t.base}, timeout: until, further: 1}.rows()
	if err != nil {
		return "", err
	}
	n, doubling := len(rows)-2, len(doubled)-1
	meaning := "all waits are alike"
	if factor != 1 {
		meaning = fmt.Sprintf("each wait is about %.4g%% of the time already waited", 100*(factor-1))
	}
	growth := fmt.Sprintf("--factor %s --max-wait 0", words.Number(factor))
	if t.overshoot > 0 {
		growth = fmt.Sprintf("--overshoot %s%%", rounded(100*t.overshoot))
	}
	return fmt.Sprintf("factor %s: %s\n\n%s\n%s by %s; factor 2 makes %d\n"+
		"a completion near then is seen at most %s later; with factor 2, %s\n\n"+
		"poll --base %s %s --timeout %s\n",
		rounded(factor), meaning, timetable("", rows[max(0, n-before):]).table(), words.Count(n, "attempt"), words.Duration(until), doubling,
		words.Duration(rows[n].Wait), words.Duration(doubled[doubling].Wait), asFlag(t.base), growth, asFlag(until)), nil
}

// rounded formats a number with ten decimals, which hides the rounding of 1.1 - 1.
func rounded(n float64) string { return words.Number(math.Round(n*1e10) / 1e10) }
