package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

func tuneCommand() *command {
	return &command{
		name:    "tune",
		summary: "a factor from what is wanted",
		about: "poll tune chooses the factor of exponential waits by what is wanted: a wait that\n" +
			"is a part of the time already waited (--overshoot), or a certain wait at a\n" +
			"certain time (--wait, --at). It shows how many attempts that makes until\n" +
			"--timeout, how late a completion then is seen, and the flags for poll.",
		examples: []example{
			{"poll tune --overshoot 10% --base 1s --timeout 1000s", ""},
			{"poll tune --wait 100s --at 1000s --base 1s", "at 1000 seconds, wait for 100"},
		},
		flags: flags{
			{name: "overshoot", value: "PCT", usage: "the wait wanted, as a part of the time waited so far"},
			{name: "wait", value: "D", usage: "the wait wanted ..."},
			{name: "at", value: "D", usage: "... at this time"},
			{name: "base", value: "D", def: backoff.DefaultBase.String(), usage: "the first wait"},
			{name: "timeout", value: "D", def: "--at, or " + words.Flag(defaultTimeout), usage: "judge the attempts until then"},
			formatFlag(formatTable, formatJSON),
			helpFlag(),
		},
		run: (*invocation).runTune,
	}
}

func (in *invocation) runTune() error {
	if err := in.takesNoOperand(); err != nil {
		return err
	}
	w, format, err := in.tuningWish()
	if err != nil {
		return err
	}
	t := tuning{wish: w, Tuning: backoff.Tune(backoff.Exponential{Base: w.base, Factor: w.factor}, w.until)}
	text := t.text()
	if format == formatJSON {
		if text, err = jsonLine(t.record()); err != nil {
			return err
		}
	}
	return in.writeOut(text)
}

// A wish is what the waits should be like, and the factor that follows from it.
type wish struct {
	overshoot float64       // 0 if a wait is wanted
	wait, at  time.Duration // 0 if an overshoot is wanted
	base      time.Duration
	until     time.Duration
	factor    float64
}

// tuningWish reads the flags.
func (in *invocation) tuningWish() (wish, string, error) {
	v := in.values
	if err := in.checkWish(); err != nil {
		return wish{}, "", err
	}
	w := wish{
		base: v.duration("base", backoff.DefaultBase),
		wait: v.duration("wait", 0),
		at:   v.duration("at", 0),
	}
	w.until = v.duration("timeout", defaultTimeout)
	if in.split.has("at") && !in.split.has("timeout") {
		w.until = w.at
	}
	if in.split.has("overshoot") {
		w.overshoot = v.percent("overshoot")
	}
	format := in.format()
	switch {
	case v.err != nil:
		return w, format, v.err
	case w.base == 0:
		return w, format, usagef("--base: 0 never grows")
	case w.until == 0 && in.split.has("timeout"):
		return w, format, usagef("--timeout: 0 leaves no time to judge")
	}
	var err error
	if w.factor, err = w.choose(); err != nil {
		err = in.badParameter(err)
	}
	return w, format, err
}

// checkWish refuses what is no wish, or two.
func (in *invocation) checkWish() error {
	const example = "poll tune --overshoot 10%%   or   poll tune --wait 100s --at 1000s"
	s := in.split
	if err := s.resolve([]conflict{{"overshoot", "wait", ""}, {"overshoot", "at", ""}}); err != nil {
		return err
	}
	switch {
	case s.has("wait") && !s.has("at"):
		return usagef("--wait needs --at: when is that wait wanted?").hint(example)
	case s.has("at") && !s.has("wait"):
		return usagef("--at needs --wait: which wait is wanted then?").hint(example)
	case !s.has("overshoot") && !s.has("wait"):
		return usagef("nothing to tune for").hint(example)
	}
	return nil
}

func (w wish) choose() (float64, error) {
	if w.overshoot > 0 {
		return backoff.FactorForOvershoot(w.overshoot)
	}
	return backoff.FactorForWait(w.base, w.wait, w.at)
}

// A tuning is a factor with what it costs and what it buys.
type tuning struct {
	wish
	backoff.Tuning
}

// A tuningRecord is the answer as JSON.
type tuningRecord struct {
	Factor          float64 `json:"factor"`
	Attempts        int     `json:"attempts"`
	AttemptsFactor2 int     `json:"attempts_factor_2"`
	NextWait        float64 `json:"next_wait_s"`
}

func (t tuning) record() tuningRecord {
	return tuningRecord{t.factor, t.Attempts, t.AttemptsFactor2, words.InSeconds(t.NextWait)}
}

// text is the answer in words.
func (t tuning) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "factor %s: %s\n\n", t.r(), t.meaning())
	b.WriteString(t.formulas())
	b.WriteString("\n" + t.around().text() + "\n")
	fmt.Fprintf(&b, "%s by %s; factor 2 makes %d%s\n", words.Count(t.Attempts, "attempt"), words.WithSeconds(t.until), t.AttemptsFactor2, t.ratio())
	other := backoff.Exponential{Base: t.base, Factor: 2}
	fmt.Fprintf(&b, "a completion near then is seen at most %s later; with factor 2, %s\n",
		words.WithSeconds(t.NextWait), words.WithSeconds(other.Wait(backoff.Step{N: t.AttemptsFactor2}, nil)))
	fmt.Fprintf(&b, "\npoll %s\n", t.flags())
	return b.String()
}

// meaning says what the factor does.
func (t tuning) meaning() string {
	if t.factor == 1 {
		return "all waits are alike"
	}
	return fmt.Sprintf("each wait is about %s of the time already waited", words.Percent(t.factor-1))
}

// formulas are those of the series, with the numbers put in. Times are in
// seconds.
func (t tuning) formulas() string {
	a, r, until := words.Seconds(t.base), t.r(), words.Seconds(t.until)
	var b strings.Builder
	if t.wait > 0 {
		fmt.Fprintf(&b, "  r      = 1 + (wait - a) / at = 1 + (%s - %s) / %s = %s\n", words.Seconds(t.wait), a, words.Seconds(t.at), r)
	} else {
		fmt.Fprintf(&b, "  r      = 1 + overshoot = 1 + %s = %s\n", words.Number(t.overshoot), r)
	}
	if t.factor == 1 {
		fmt.Fprintf(&b, "  n      = T / a = %s / %s, rounded down: %d\n", until, a, t.Attempts)
		fmt.Fprintf(&b, "  T_%-4d = a n = %s * %d = %s s\n", t.Attempts, a, t.Attempts, words.Seconds(t.Last))
		fmt.Fprintf(&b, "  next   = a = %s s\n", words.Seconds(t.NextWait))
		return b.String()
	}
	less := rounded(t.factor - 1)
	fmt.Fprintf(&b, "  n      = log(1 + (r - 1) T / a) / log r = log(1 + %s * %s / %s) / log %s, rounded down: %d\n", less, until, a, r, t.Attempts)
	fmt.Fprintf(&b, "  T_%-4d = a (r^n - 1) / (r - 1) = %s * (%s^%d - 1) / %s = %s s\n", t.Attempts, a, r, t.Attempts, less, words.Seconds(t.Last))
	fmt.Fprintf(&b, "  next   = a + (r - 1) T_n = %s + %s * %s = %s s\n", a, less, words.Seconds(t.Last), words.Seconds(t.NextWait))
	return b.String()
}

// r is the factor as it is shown; flags gives it in full.
func (t tuning) r() string { return rounded(t.factor) }

// rounded writes a number to ten digits, which leaves out what comes of 1.1 - 1.
func rounded(n float64) string {
	return words.Number(math.Round(n*1e10) / 1e10)
}

// around is the table of the attempts next to the end.
func (t tuning) around() *sheet {
	const before, after = 3, 2
	s := &sheet{header: []string{"attempt", "wait", "wait_s", "starts at", "at_s"}}
	for n := max(1, t.Attempts-before+1); n <= t.Attempts+after; n++ {
		wait, at := t.Schedule.Wait(backoff.Step{N: n - 1}, nil), t.Schedule.At(n)
		s.add(strconv.Itoa(n), words.Duration(wait), words.Seconds(wait), words.Duration(at), words.Seconds(at))
	}
	return s
}

// ratio says how the attempts relate to those of factor 2, here and in the long run.
func (t tuning) ratio() string {
	if t.AttemptsFactor2 == 0 || t.Attempts == 0 {
		return ""
	}
	text := ", as many"
	if t.Attempts != t.AttemptsFactor2 {
		text = fmt.Sprintf(", so that is %.3g times as many", float64(t.Attempts)/float64(t.AttemptsFactor2))
	}
	if math.IsInf(t.Ratio, 0) || t.factor == 2 {
		return text
	}
	return text + fmt.Sprintf(" (in the long run log 2 / log r = %.3g times)", t.Ratio)
}

// flags are those of poll that wait like this.
func (t tuning) flags() string {
	growth := fmt.Sprintf("--factor %s --max-wait 0", words.Number(t.factor))
	if t.overshoot > 0 {
		growth = fmt.Sprintf("--overshoot %s%%", rounded(100*t.overshoot))
	}
	return fmt.Sprintf("--base %s %s --timeout %s", words.Flag(t.base), growth, words.Flag(t.until))
}
