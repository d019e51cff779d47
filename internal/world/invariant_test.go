package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll"
)

// An invariant is what holds of every wait. It reports whether a wait was one that puts it to the
// test, and blames the world if it does not hold. Others are checked where requests and events are.
type invariant struct {
	name  string
	check func(w *world, res *result) (exercised bool)
}

var invariants = []invariant{
	{"true", checkTrue},
	{"whole", checkWhole},
	{"once", checkOnce},
	{"quiet", checkQuiet},
	{"on time", checkOnTime},
	{"awake", checkAwake},
	{"polite", checkPolite},
	{"told", checkTold},
	{"resumable", checkResumable},
}

// isSuccess reports whether a sighting shows what is waited for.
func (p *plan) isSuccess(s sighting) bool {
	switch {
	case !s.honest:
		return false
	case p.Gone:
		return s.code == 404
	}
	return s.doc != "" && s.code != 404 && p.Until.holds(s.doc) && !p.ErrorIf.holds(s.doc)
}

// sightings returns what was seen of an operation, by itself or in whole lists.
func (w *world) sightings(l *life) (all []sighting) {
	if w.plan.List == nil || w.plan.List.Follow {
		return l.seen
	}
	for _, a := range w.wholesOf(l.ID) {
		all = append(all, sighting{at: a.to, doc: a.shown[l.ID], honest: true, code: 200})
	}
	return all
}

// wholesOf returns the whole lists that would show an element.
func (w *world) wholesOf(id int) (all []whole) {
	for _, a := range w.wholes {
		if isAbout(a.key, id) {
			all = append(all, a)
		}
	}
	return all
}

// isDone reports whether an operation was seen to be so as often in a row as is asked for: at last,
// or if it may have ended before the others at any time.
func (w *world) isDone(l *life, atLast bool) bool {
	if w.plan.List != nil && w.plan.List.Gone {
		return w.hasGone(l)
	}
	row, most := 0, 0
	for _, s := range w.sightings(l) {
		if row++; !w.plan.isSuccess(s) {
			row = 0
		}
		most = max(most, row)
	}
	if atLast {
		most = row
	}
	return most >= w.plan.Threshold
}

// hasGone reports whether an element was shown and is absent from two whole lists in a row since.
func (w *world) hasGone(l *life) bool {
	shown, row := false, 0
	for _, a := range w.wholesOf(l.ID) {
		if row++; a.shown[l.ID] != "" {
			shown, row = true, 0
		}
		if shown && row >= 1+w.plan.Threshold {
			return true
		}
	}
	return false
}

// checkTrue: SUCCESS only of what was so at the last looks, ERROR only of what was said.
func checkTrue(w *world, res *result) bool {
	done := 0
	for _, l := range w.inOrder() {
		ends := res.Ends[fmt.Sprint(l.ID)]
		if len(ends) == 0 {
			continue
		}
		is := w.isDone(l, w.plan.List == nil && !w.plan.Line.Twice)
		if is {
			done++
		}
		switch ends[len(ends)-1] {
		case poll.Succeeded:
			if !is {
				w.blame("true", "%d succeeded, and that was not seen", l.ID)
			}
		case poll.Failed:
			if w.plan.List == nil && !w.mayFail(l) {
				w.blame("true", "%d failed, and nothing said so: %s", l.ID, res.Reasons[fmt.Sprint(l.ID)])
			}
		}
	}
	if res.How == poll.Succeeded && w.plan.List == nil && w.plan.Line.Print == "" && done < w.need() && w.cuts == 0 && res.Runs == 1 {
		w.blame("true", "SUCCESS, and %d of %d are done", done, w.need())
	}
	return res.How == poll.Succeeded
}

// need returns how many have to succeed.
func (w *world) need() int {
	if w.plan.AtLeast > 0 {
		return w.plan.AtLeast
	}
	return len(w.plan.Ops)
}

// mayFail reports whether something has said that an operation has failed, or can never succeed.
func (w *world) mayFail(l *life) bool {
	isError := func(s sighting) bool {
		return s.honest && (w.plan.ErrorIf.holds(s.doc) || s.code == 404 && !w.plan.NotYet && !w.plan.Gone)
	}
	return l.excuse != "" || l.flying > 0 || slices.ContainsFunc(l.seen, isError)
}

// checkWhole: SUCCESS of all is that of all elements that a whole list has shown.
func checkWhole(w *world, res *result) bool {
	p := w.plan.List
	if p == nil || res.How != poll.Succeeded {
		return false
	}
	done, shown, first := 0, 0, math.MaxInt
	for _, l := range w.inOrder() {
		isShown := false
		for i, a := range w.wholes {
			if a.shown[l.ID] != "" && !isShown {
				isShown, first = true, i
			}
		}
		if isShown && !(p.Known != nil && !slices.Contains(p.Known, l.ID)) {
			shown++
		}
		is := w.isDone(l, false)
		if is {
			done++
		}
		isWanted := isShown && p.Known == nil || slices.Contains(p.Known, l.ID)
		if isWanted && !is && w.plan.AtLeast == 0 && w.cuts == 0 {
			w.blame("whole", "SUCCESS of all, and %d was not seen to be done", l.ID)
		}
	}
	switch n := len(w.wholes); {
	case n == 0:
		w.blame("whole", "SUCCESS, and no whole list was delivered")
	case done < w.plan.AtLeast, shown < p.Expect && w.plan.AtLeast == 0:
		w.blame("whole", "SUCCESS, %d shown of %d expected, %d done of %d", shown, p.Expect, done, w.plan.AtLeast)
	case p.Known != nil, p.Expect > 0, w.plan.AtLeast > 0, res.Deadline.Sub(res.End) < 6*time.Second, first == math.MaxInt:
	case w.wholes[n-1].to.Sub(w.wholes[0].to) < 4900*time.Millisecond:
		w.blame("whole", "SUCCESS after one look at a list of unknown length, %s before the deadline", res.Deadline.Sub(res.End))
	}
	return true
}

// checkOnce: nothing is started twice.
func checkOnce(w *world, _ *result) (exercised bool) {
	for _, l := range w.inOrder() {
		if exercised = exercised || l.starts > 0; l.starts > 1 {
			w.blame("once", "%d was started %d times", l.ID, l.starts)
		}
	}
	return exercised
}

// checkQuiet: no secret is in what was said.
func checkQuiet(w *world, res *result) bool {
	for _, said := range res.Said {
		for _, secret := range []string{token, body, cookie} {
			if strings.Contains(said, secret) {
				w.blame("quiet", "%s stands in %.200q", secret, said)
			}
		}
	}
	return w.saw["another origin asked"]
}

// checkOnTime: the deadline and the number of attempts hold.
func checkOnTime(w *world, res *result) bool {
	begun := w.processes[len(w.processes)-1].began // a run may begin after the deadline
	if late := min(res.End.Sub(res.Deadline), res.End.Sub(begun)); late > 50*time.Millisecond && w.plan.Caller != "step" {
		w.blame("on time", "it ended %s after the deadline", late)
	}
	if w.plan.Most > 0 && w.plan.List == nil && len(w.plan.Ops) == 1 && res.Attempts > w.plan.Most {
		w.blame("on time", "%d attempts, and %d were allowed", res.Attempts, w.plan.Most)
	}
	if res.How == poll.AttemptsExhausted && w.plan.Most == 0 {
		w.blame("on time", "attempts were exhausted without a limit")
	}
	return res.How == poll.TimedOut || res.How == poll.AttemptsExhausted
}

// checkAwake: what is so, and can be reached, is noticed before the deadline.
func checkAwake(w *world, res *result) bool {
	if len(w.plan.Ops) > 1 || w.plan.List != nil || w.plan.Line.Share || w.plan.Line.Twice {
		return false
	}
	l := w.inOrder()[0]
	last, since := l.settled()
	isSo := w.plan.isSuccess(sighting{doc: l.docAt(time.Now().Add(time.Hour)), honest: true, code: 200})
	if w.plan.Gone {
		isSo = last == gone
	}
	if !isSo || since.IsZero() {
		return false
	}
	margin := 6 * time.Second
	if w.plan.Threshold > 1 {
		margin += time.Duration(w.plan.Threshold) * max(20*time.Second, w.plan.Interval)
	}
	for _, t := range []time.Time{w.troubled, res.Deadline.Add(-w.plan.Timeout), w.hints[fmt.Sprint(l.ID)]} {
		if t.After(since) {
			since = t
		}
	}
	if !since.Add(margin).Before(res.Deadline) {
		return false
	}
	if res.How == poll.TimedOut {
		w.blame("awake", "it has been so for %s, and nobody noticed", res.Deadline.Sub(since))
	}
	return true
}

// checkPolite: an operation by itself is not asked about more often than the schedule says.
func checkPolite(w *world, res *result) bool {
	if w.plan.List != nil {
		return w.saw["hint"]
	}
	took, at, most := res.End.Sub(res.Began), time.Duration(0), 4
	for n := 0; at <= took; n++ {
		step := w.plan.Interval
		if step == 0 {
			step = min(20*time.Second, 100*time.Millisecond<<min(n, 10))
		}
		at += step
		most++
	}
	most += 3*res.Runs + w.plan.Threshold
	for _, l := range w.inOrder() {
		if n := len(l.seen); n > most {
			w.blame("polite", "%d looks in %s, and the schedule has %d", n, took, most)
		}
	}
	return w.saw["hint"]
}

// checkTold: every target ends once.
func checkTold(w *world, res *result) bool {
	repeats := 1
	isLine := res.Code >= 0
	if isLine {
		repeats += w.cuts
	}
	for name, ends := range res.Ends {
		if len(ends) > repeats && !(isLine && w.plan.Line.Print == "json") {
			w.blame("told", "%s ended %d times", name, len(ends))
		}
	}
	switch {
	case res.How == "" && !isLine:
		w.blame("told", "the wait has no end")
	case isLine && res.How == "" && !(res.Code == 2 && w.plan.Line.Twice):
		w.blame("told", "exit code %d", res.Code)
	}
	return true
}

// checkResumable: a wait that was killed goes on. It ends in ERROR only where a start was in flight.
func checkResumable(w *world, res *result) bool {
	if w.cuts == 0 || len(w.plan.Ops) > 1 || w.plan.List != nil {
		return w.cuts > 0
	}
	l := w.inOrder()[0]
	if strings.Contains(fmt.Sprint(res.Said), "may have started") && l.flying == 0 && l.excuse == "" {
		w.blame("resumable", "the operation may have started, and its start was answered")
	}
	return true
}
