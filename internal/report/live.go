package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

// redraw is the minimum time between redraws of the status line.
const redraw = 100 * time.Millisecond

// live is the face for a terminal: a status line, redrawn, below the verdicts that
// changed something. It checks the terminal's size and whether poll is in the
// foreground before every redraw, so it needs no notice of a resize, or of a stop
// and continue.
type live struct {
	r     *Reporter
	above log
	drawn time.Time
}

func (v *live) event(ev poll.Event) {
	v.r.inBackground()
	if ev.Kind == poll.EventEnd {
		v.r.con.finish(v.r.closing(ev.Outcome, summary(v.r.run, v.r.cfg.Palette)))
		return
	}
	v.above.event(ev)
	if now := time.Now(); now.Sub(v.drawn) >= redraw {
		v.tick(now)
	}
}

func (v *live) due() time.Time { return v.drawn.Add(redraw) }

// tick redraws the status line. In the background it leaves the terminal alone.
func (v *live) tick(now time.Time) {
	v.drawn = now
	if !v.r.inBackground() {
		v.r.con.draw(v.layout(v.statusLine(v.r.run, now), v.r.width()))
	}
}

// A statusLine is what could be shown of a run, as plain text; layout decides what
// fits.
type statusLine struct {
	spinner, status, attempt, maxAttempts, elapsed, timeout, phase, words string

	bar piece // what the server says of its progress, empty for nothing
}

func (v *live) statusLine(u *run, now time.Time) statusLine {
	elapsed := u.elapsed(now)
	s := statusLine{
		spinner: v.r.glyphs.frame(elapsed),
		status:  "waiting",
		attempt: fmt.Sprintf("#%d", max(1, attemptOf(u.latest))),
		elapsed: words.Clock(elapsed),
		phase:   phase(u, now),
		bar:     v.r.progressBar(u.reading),
	}
	if u.attempt == nil {
		s.words = oneLine(u.latest.Target)
	} else {
		s.status, s.words = u.status().String(), verdictWords(*u.attempt)
	}
	if u.attempt == nil || !u.attempt.Verdict.TellsHint {
		s.words += hintWords(u.latest)
	}
	s.words = before(heldWords(u.latest.HeldBy), before(u.reading.others(), s.words))
	if n := u.latest.MaxAttempts; n > 0 {
		s.maxAttempts = fmt.Sprintf("/%d", n)
	}
	if d := u.timeout(); d > 0 {
		s.timeout = "/" + words.Short(d)
	}
	if usual := v.r.forecast(u.age(now)); usual != "" {
		if u.attempt != nil || hintOf(u.latest) != nil { // make room by dropping the target, which is in the opening line
			usual = before(s.words, usual)
		}
		s.words = usual
	}
	return s
}

// phase describes briefly what is under way.
func phase(u *run, now time.Time) string {
	if u.latest.Kind == poll.EventWait && u.latest.HeldBy != poll.HeldByAnother {
		left := max(0, u.latest.State.Due.Sub(now))
		if left < 10*time.Second {
			return fmt.Sprintf("next %.1fs", left.Seconds())
		}
		return "next " + words.Short(left)
	}
	if d := now.Sub(u.latest.At); d >= time.Second {
		return "busy " + words.Short(d.Truncate(time.Second))
	}
	return "busy"
}

// What layout reserves room for before it drops less important parts.
const (
	barWidth   = 10
	leastWords = 24
	phaseWidth = len("next 9.9s") // the usual width, so that the words do not jump
	narrow     = 60               // columns; below, the parts are packed closer
)

// layout fits the parts into width columns. If the words do not fit, the bar goes
// first, then the timeout and the attempt limit.
func (v *live) layout(s statusLine, width int) string {
	gap := gapOf(width)
	phase := fmt.Sprintf("%-*s", phaseWidth, s.phase)
	left := width - term.Width(s.spinner+" ") - statusWidth - len(s.attempt+s.elapsed+phase) - 4*len(gap)
	if left < 0 { // without colours, since escape sequences cannot be cut
		line := strings.Join([]string{s.spinner, s.status, s.attempt, s.elapsed, s.phase}, " ")
		return term.Cut(line, width, "")
	}
	c := v.r.cfg.Palette
	part := func(text string, columns int) string {
		if text == "" || left-columns < leastWords {
			return ""
		}
		left -= columns
		return text
	}
	attempt := s.attempt + c.Paint(term.Faint, part(s.maxAttempts, len(s.maxAttempts)))
	elapsed := s.elapsed + c.Paint(term.Faint, part(s.timeout, len(s.timeout)))
	if bar := part(s.bar.painted, 1+term.Width(s.bar.plain)); bar != "" {
		elapsed += " " + bar
	}
	return s.spinner + " " + strings.Join([]string{paint(c, s.status, statusWidth), attempt, elapsed, phase, ""}, gap) +
		term.Cut(s.words, left, v.r.glyphs.ellipsis)
}

// gapOf returns what is between columns.
func gapOf(width int) string {
	if width < narrow {
		return " "
	}
	return "  "
}

// bar shows a share from 0 to 1.
func (r *Reporter) bar(done float64, columns int) piece {
	n, c := int(done*float64(columns)), r.cfg.Palette
	full, empty := strings.Repeat(r.glyphs.full, n), strings.Repeat(r.glyphs.empty, columns-n)
	return piece{full + empty, c.Paint(term.Pending, full) + c.Paint(term.Faint, empty)}
}
