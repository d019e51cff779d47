package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// picture returns the line as it is now, a column narrower than the terminal:
// a character in the last column would make some wrap.
func (v *live) picture(u *run, now time.Time) string {
	width := v.r.cfg.Streams.Width()
	if width == 0 {
		width = 80
	}
	return v.layout(v.parts(u, now), width-1)
}

// parts are what a picture is made of, in plain words; layout decides which of
// them there is room for.
type parts struct {
	spinner, status, attempt, max, elapsed, timeout, phase, words string

	percent string  // of done, where that is by past runs
	done    float64 // 0 to 1: part of such runs, or of the timeout, that is over
}

func (v *live) parts(u *run, now time.Time) parts {
	elapsed := u.elapsed(now)
	p := parts{
		spinner: v.spinner(elapsed),
		status:  "waiting",
		attempt: fmt.Sprintf("#%d", max(1, u.at.Attempt)),
		elapsed: words.Clock(elapsed),
		phase:   phase(u, now),
		words:   oneLine(u.target),
	}
	told := false
	if u.last != nil {
		p.status, told = u.status().String(), u.last.Verdict.TellsHint
		p.words = verdictWords(*u.last)
	}
	if h := u.at.Hint; h != nil && !told {
		p.words += hintWords(u.at)
	}
	if u.maxAttempts > 0 {
		p.max = fmt.Sprintf("/%d", u.maxAttempts)
	}
	if d := u.timeout(); d > 0 {
		p.timeout = words.Short(d)
		p.done = min(1, float64(elapsed)/float64(d))
	}
	if f := v.r.cfg.Forecast; f != nil {
		age := u.age(now)
		p.done = done(f, age)
		p.percent = fmt.Sprintf("%d%%", percentDone(f, age))
		p.words = v.forecast(u, p.words, age)
	}
	return p
}

// forecast adds to the words how long it usually takes. What is waited for,
// which stands above, makes room for that.
func (v *live) forecast(u *run, words string, age time.Duration) string {
	if u.last == nil && u.at.Hint == nil {
		return v.r.forecast(age)
	}
	return words + "; " + v.r.forecast(age)
}

// spinner shows that poll is alive, by the time alone.
func (v *live) spinner(elapsed time.Duration) string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	if !v.r.cfg.Streams.Unicode {
		frames = []rune(`|/-\`)
	}
	return string(frames[int(elapsed/redraw)%len(frames)])
}

// phase says what is under way, in few words.
func phase(u *run, now time.Time) string {
	if u.at.Kind == poll.EventWait {
		left := max(0, u.at.NextAt.Sub(now))
		if left < 10*time.Second {
			return fmt.Sprintf("next %.1fs", left.Seconds())
		}
		return "next " + words.Short(left)
	}
	if d := now.Sub(u.at.At); d >= time.Second {
		return "busy " + words.Short(d.Truncate(time.Second))
	}
	return "busy"
}

// What a picture keeps room for before it drops its less important parts.
const (
	barWidth   = 10
	leastWords = 24
	narrow     = 60 // columns, below which the parts stand close together
)

// layout puts the parts into width columns. Where there is too little room for
// the words, the bar goes first, then the timeout and the number of attempts
// allowed.
func (v *live) layout(p parts, width int) string {
	gap := "  "
	if width < narrow {
		gap = " "
	}
	fixed := term.Width(p.spinner) + 1 + 9 + len(gap+p.attempt+gap+p.elapsed+gap) + max(phaseWidth, len(p.phase)) + len(gap)
	left := width - fixed
	room := func(n int) bool {
		if n == 0 || left-n < leastWords {
			return false
		}
		left -= n
		return true
	}
	if !room(len(p.max)) {
		p.max = ""
	}
	if !room(len("/" + p.timeout)) {
		p.timeout = ""
	}
	bar := ""
	if p.percent != "" && room(1+barWidth+len(" 99%")) || p.percent == "" && p.timeout != "" && room(1+barWidth) {
		bar = v.bar(p.done)
	}
	if left < 0 { // not even these: without colours, which cannot be cut
		line := strings.Join([]string{p.spinner, p.status, p.attempt, p.elapsed, p.phase}, " ")
		return term.Cut(line, width, "")
	}
	return v.paint(p, bar, gap) + term.Cut(p.words, left, v.r.ellipsis())
}

// phaseWidth is what a phase usually takes, so that the words stand still.
const phaseWidth = len("next 9.9s")

// paint returns all but the words, coloured.
func (v *live) paint(p parts, bar, gap string) string {
	c := v.r.cfg.Palette
	end := ""
	if p.timeout != "" {
		end = c.Faint("/" + p.timeout)
	}
	switch {
	case bar != "" && p.percent != "":
		end += fmt.Sprintf(" %s %-3s", bar, p.percent)
	case bar != "":
		end = " " + bar + " " + c.Faint(p.timeout)
	}
	status := paint(c, p.status) + strings.Repeat(" ", max(0, 9-len(p.status)))
	phase := fmt.Sprintf("%-*s", phaseWidth, p.phase)
	return p.spinner + " " + strings.Join([]string{status, p.attempt + c.Faint(p.max), p.elapsed + end, phase, ""}, gap)
}

// bar shows a part of 1: how much of the timeout is over, or how many of the past
// runs were.
func (v *live) bar(done float64) string {
	full, empty := "━", "─"
	if !v.r.cfg.Streams.Unicode {
		full, empty = "=", "-"
	}
	n := int(done * barWidth)
	c := v.r.cfg.Palette
	return c.Pending(strings.Repeat(full, n)) + c.Faint(strings.Repeat(empty, barWidth-n))
}
