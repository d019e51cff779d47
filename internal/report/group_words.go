package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// How much the last words name: reasons, and of each so many targets.
const (
	closingReasons = 5
	closingNames   = 10
	closingAdvice  = 3  // lines for each reason
	nameWidth      = 60 // columns of a name among others
)

// decisive returns the reason that tells most of how a run ended. The run's own would
// repeat the limit, or the signal.
func decisive(o *poll.Outcome) string {
	switch o.Ending {
	case poll.HintTooLong, poll.AttemptsExhausted, poll.TimedOut, poll.Interrupted, poll.Cancelled:
		return o.Verdict.Reason
	}
	return o.Reason
}

// A count is a number of targets in some state, by its word.
type count struct {
	n    int
	word string
	tone term.Tone
}

// counts returns how many targets are in which state: first how they ended.
func (g *group) counts() []count {
	all := []count{
		{g.ended[poll.Succeeded], status.Success.String(), term.Good},
		{g.ended[poll.Failed] + g.ended[poll.CannotRun], status.Error.String(), term.Bad},
		{g.ended[poll.HintTooLong], "throttled past the deadline", term.Bad},
		{g.ended[poll.AttemptsExhausted], string(poll.AttemptsExhausted), term.Bad},
		{g.ended[poll.TimedOut], string(poll.TimedOut), term.Bad},
		{g.ended[poll.Interrupted], string(poll.Interrupted), term.Bad},
		{g.ended[poll.Cancelled], string(poll.Cancelled), term.Faint},
		{g.waiting[status.NotReady], status.NotReady.String(), term.Pending},
		{g.waiting[status.Throttled], status.Throttled.String(), term.Slow},
		{g.size - g.over() - g.waiting[status.NotReady] - g.waiting[status.Throttled], "waiting", term.Faint},
	}
	return slices.DeleteFunc(all, func(c count) bool { return c.n <= 0 })
}

// countWords returns the counts as part of a line.
func (g *group) countWords(p term.Palette) string {
	var parts []string
	for _, c := range g.counts() {
		parts = append(parts, strconv.Itoa(c.n)+" "+p.Paint(c.tone, c.word))
	}
	return strings.Join(parts, ", ")
}

// A lack is how some targets ended that are not done, and why.
type lack struct {
	ending  poll.Ending
	reason  *reason // nil for those that were cancelled
	targets int
	names   []string // the first of them
}

// lacks returns how targets ended that are not done, that of most targets first.
func (g *group) lacks() []*lack {
	type kind struct {
		ending poll.Ending
		reason *reason
	}
	var all []*lack
	byKind := make(map[kind]*lack)
	for _, t := range g.targets {
		if t == nil || !t.over || t.ending == poll.Succeeded {
			continue
		}
		k := kind{t.ending, t.reason}
		if t.ending == poll.Cancelled {
			k.reason = nil
		}
		one := byKind[k]
		if one == nil {
			one = &lack{ending: k.ending, reason: k.reason}
			byKind[k] = one
			all = append(all, one)
		}
		if one.targets++; k.reason != nil && one.targets <= closingNames {
			one.names = append(one.names, t.name)
		}
	}
	slices.SortStableFunc(all, func(a, b *lack) int { return cmp.Compare(b.targets, a.targets) })
	return all
}

// missing says which targets are not done, grouped by how they ended and why.
func (r *Reporter) missing() string {
	g := r.group
	if g.size == 0 {
		return ""
	}
	text := fmt.Sprintf("poll: %d of %s not done:\n", g.size-g.done(), words.Count(g.size, r.thing()))
	rest, told := 0, make(map[string]bool)
	for i, one := range g.lacks() {
		if i >= closingReasons {
			rest += one.targets
			continue
		}
		text += fmt.Sprintf("poll: %d %s", one.targets, r.lackWords(one))
		for i, name := range one.names {
			sep := ", "
			if i == 0 {
				sep = ": "
			}
			text += sep + term.CutMiddle(oneLine(name), nameWidth, r.glyphs.ellipsis)
		}
		if more := one.targets - len(one.names); more > 0 && len(one.names) > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += "\n"
		for _, s := range one.advice() {
			if !told[s] {
				text += "poll: " + s + "\n"
			}
			told[s] = true
		}
	}
	if unknown := g.size - len(g.targets); unknown > 0 {
		text += fmt.Sprintf("poll: %d %s\n", unknown, neverSeen)
	}
	if rest > 0 {
		text += fmt.Sprintf("poll: %d for other reasons\n", rest)
	}
	return text
}

// thing returns what a target is called.
func (r *Reporter) thing() string {
	if len(r.group.lists) > 0 {
		return "element"
	}
	return "target"
}

// advice returns what the first of the targets was told.
func (l *lack) advice() []string {
	if l.reason == nil {
		return nil
	}
	return l.reason.advice[:min(len(l.reason.advice), closingAdvice)]
}

// lackWords says how targets ended, and why.
func (r *Reporter) lackWords(l *lack) string {
	how := r.cfg.Palette.Paint(term.Bad, string(l.ending))
	if l.reason == nil {
		return how
	}
	text := l.reason.text(r.glyphs.ellipsis)
	switch {
	case text == "":
		return how + " before the first answer"
	case endedByVerdict(l.ending), l.ending == poll.HintTooLong, strings.HasPrefix(text, "the last "), text == neverSeen:
		return how + ", " + text
	}
	return how + ", last " + text
}

// groupClosing returns the last words of several targets: what is missing, and whether
// the goal was reached.
func (r *Reporter) groupClosing(s *poll.Summary) string {
	text := ""
	if s.Ending != poll.Succeeded {
		text = r.missing()
		text += r.failedLists(text)
	}
	o := poll.Outcome{Ending: s.Ending, Status: statusOf(s.Ending), State: poll.State{Attempts: s.Attempts, Taken: s.Taken, Alone: s.Alone},
		Elapsed: s.Elapsed, Reason: r.verdict(s)}
	text += "poll: " + ending(&o, r.cfg.Palette) + "\n"
	for _, note := range oneLines("poll: note: ", r.notes) {
		text += note + "\n"
	}
	return text
}

// verdict says whether the goal was reached and, unless all targets succeeded, how they
// ended.
func (r *Reporter) verdict(s *poll.Summary) string {
	text := "goal reached: " + r.cfg.Goal
	if s.Ending != poll.Succeeded {
		text = "goal not reached: " + r.cfg.Goal
	}
	if s.Ending == poll.Interrupted && s.Cause != nil {
		text = s.Cause.Error() + "; " + text
	} else if why := r.group.listReason(); why != "" && s.Ending != poll.Succeeded {
		text = why + "; " + text
	}
	if r.group.done() == r.group.size || r.group.size == 0 {
		return text
	}
	return text + " (" + r.group.countWords(term.Palette{}) + ")"
}

// pace says how many attempts a second there are, "" within the first.
func (g *group) pace(now time.Time) string {
	switch n := g.rate.perSecond(g.at(now)); n {
	case 0:
		return ""
	case 1:
		return "1 attempt/s"
	default:
		return rateWords(n) + " attempts/s"
	}
}

// rateWords formats a number of attempts a second.
func rateWords(n float64) string { return words.Number(words.TwoDigits(n)) }
