package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// redraw is the least time between two pictures.
const redraw = 100 * time.Millisecond

// live is the face of a terminal: one line, redrawn, and above it the verdicts
// that changed something. The size of the terminal and whether poll is in its
// foreground are asked before every picture, so that nothing has to be told of
// a resize or of a stop and its end.
type live struct {
	r     *Reporter
	above lines
	drew  time.Time
}

func (v *live) event(u *run, ev poll.Event) {
	v.r.yield()
	if ev.Kind == poll.EndEvent {
		v.r.con.finish(v.r.closing(ev.Outcome, summary(u, v.r.cfg.Palette)))
		return
	}
	v.above.event(u, ev)
	if now := time.Now(); now.Sub(v.drew) >= redraw {
		v.beat(now)
	}
}

func (v *live) due() time.Time {
	if v.above.idle() {
		return time.Time{}
	}
	return v.drew.Add(redraw)
}

// beat draws the line anew. In the background it leaves the terminal to whoever
// has it.
func (v *live) beat(now time.Time) {
	v.drew = now
	if v.r.yield() {
		return
	}
	for _, u := range v.r.runs {
		if !u.ended() {
			v.r.con.draw(v.picture(u, now))
			return
		}
	}
}

// yield reports whether the terminal is somebody else's now. What was drawn on
// it then is no longer poll's to erase.
func (r *Reporter) yield() bool {
	if r.cfg.Streams.Foreground() {
		return false
	}
	r.con.abandon()
	return true
}

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
	done                                                          float64 // part of the timeout that is over, 0 to 1
}

func (v *live) parts(u *run, now time.Time) parts {
	elapsed := u.elapsed(now)
	p := parts{
		spinner: v.spinner(elapsed),
		status:  "waiting",
		attempt: fmt.Sprintf("#%d", max(1, u.at.Attempt)),
		elapsed: clock(elapsed),
		phase:   phase(u, now),
		words:   words(u.target),
	}
	if u.last != nil {
		p.status = u.status().String()
		p.words = verdictWords(*u.last)
	}
	if u.at.Kind == poll.WaitEvent {
		p.words += hintWords(u.at)
	}
	if u.maxAttempts > 0 {
		p.max = fmt.Sprintf("/%d", u.maxAttempts)
	}
	if d := u.timeout(); d > 0 {
		p.timeout = short(d)
		p.done = min(1, float64(elapsed)/float64(d))
	}
	return p
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
	if u.at.Kind == poll.WaitEvent {
		left := max(0, u.at.NextAt.Sub(now))
		if left < 10*time.Second {
			return fmt.Sprintf("next %.1fs", left.Seconds())
		}
		return "next " + short(left)
	}
	if d := now.Sub(u.at.At); d >= time.Second {
		return "busy " + short(d.Truncate(time.Second))
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
	if p.timeout != "" && room(1+barWidth) {
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
	elapsed := p.elapsed
	switch {
	case bar != "":
		elapsed += " " + bar + " " + c.Faint(p.timeout)
	case p.timeout != "":
		elapsed += c.Faint("/" + p.timeout)
	}
	status := paint(c, p.status) + strings.Repeat(" ", max(0, 9-len(p.status)))
	phase := fmt.Sprintf("%-*s", phaseWidth, p.phase)
	return p.spinner + " " + strings.Join([]string{status, p.attempt + c.Faint(p.max), elapsed, phase, ""}, gap)
}

// bar shows how much of the timeout is over, as a part of 1.
func (v *live) bar(done float64) string {
	full, empty := "━", "─"
	if !v.r.cfg.Streams.Unicode {
		full, empty = "=", "-"
	}
	n := int(done * barWidth)
	c := v.r.cfg.Palette
	return c.Pending(strings.Repeat(full, n)) + c.Faint(strings.Repeat(empty, barWidth-n))
}

// summary says which statuses were seen and for how long, what the attempts
// took and how long was waited. A run of one attempt has none.
func summary(u *run, p term.Palette) string {
	if u.took.n < 2 {
		return ""
	}
	var seen []string
	for _, s := range u.states {
		text := paint(p, s.status.String())
		if s.lasted > 0 && s.status != status.None {
			text += " for " + clock(s.lasted)
		}
		seen = append(seen, fmt.Sprintf("%s (%s)", text, count(s.attempts, "attempt")))
	}
	took := fmt.Sprintf("attempts took %s on average, %s at most", short(u.took.sum/time.Duration(u.took.n)), short(u.took.max))
	if u.waits > 0 {
		took += fmt.Sprintf("; %s, %s in all", count(u.waits, "wait"), clock(u.waited))
	}
	return "poll: " + strings.Join(seen, ", ") + "\n" + "poll: " + took + "\n"
}
