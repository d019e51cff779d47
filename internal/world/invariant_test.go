package world

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll"
)

// An invariant is what holds of every wait. Check reports whether a wait was one that puts it to the
// test, and blames the world if it does not hold. Some are noticed earlier, too.
type invariant struct {
	name  string
	check func(w *world, res *result) (exercised bool)
}

var invariants = []invariant{
	{"true", checkTrue}, {"whole", checkWhole}, {"once", checkOnce}, {"quiet", checkQuiet}, {"on time", checkOnTime},
	{"awake", checkAwake}, {"polite", checkPolite}, {"told", checkTold}, {"resumable", checkResumable},
	{"prompt", checkPrompt}, {"resumes", func(w *world, _ *result) bool { return w.saw["Last-Event-ID"] }},
}

// isSuccess reports whether a sighting shows the success of the operation.
func (w *world) isSuccess(s sighting) bool {
	if w.Gone || !s.honest {
		return s.honest && s.doc == ""
	}
	is, known := w.judged[s.doc]
	if !known {
		is = w.succeeds(s.doc)
		w.judged[s.doc] = is
	}
	return is
}

// wholesOf returns the whole lists that would show an element.
func (w *world) wholesOf(l *life) (all []whole) {
	for _, a := range w.wholes {
		if isAbout(a.key, l.ID) {
			all = append(all, a)
		}
	}
	return all
}

// isDone reports whether an operation was seen to be done as often in a row, and as long, as the thresholds need: at
// last, or, if other waits continued after its own, at any time.
func (w *world) isDone(l *life) bool {
	need, row, shown := max(1, w.Threshold), 0, false
	since, last, isMet, wasMet := time.Time{}, time.Time{}, false, false
	count := func(is bool, at time.Time) {
		if w.Cache != nil && !at.After(last) { // a copy that was counted before
			return
		}
		last = at
		if row++; !is && w.Line.Twice { // the other process has seen that, perhaps
			row--
			return
		} else if !is {
			row = 0
		} else if row == 1 {
			since = at
		}
		isMet = row >= need && at.Sub(since) >= w.Steady
		wasMet = wasMet || isMet
	}
	switch {
	case w.List == nil:
		for _, s := range l.news() {
			count(w.isSuccess(s), s.at)
		}
	case w.List.Gone:
		need++ // an element is gone if two lists in a row lack it
		for _, a := range w.wholesOf(l) {
			if shown = shown || a.shown[l.ID] != ""; !a.part {
				count(shown && a.shown[l.ID] == "", a.made)
			}
		}
	default:
		for _, a := range w.wholesOf(l) {
			if !a.part || a.shown[l.ID] != "" {
				at := a.made
				if t, isShown := a.times[l.ID]; isShown && w.Cache != nil {
					at = t
				}
				count(w.isSuccess(sighting{doc: a.shown[l.ID], honest: true, at: at}), at)
			}
		}
	}
	isOver := w.Line.Log != "" && len(w.Ops) > 1 // some in earlier runs, of which there is one more look
	if w.List == nil && !w.Line.Twice && !(w.isLine() && (w.cuts > 0 || isOver)) {
		return isMet
	}
	return wasMet
}

// checkTrue: SUCCESS only if it was true at the last attempts, ERROR only if a response reported a failure.
func checkTrue(w *world, res *result) bool {
	done := 0
	for _, l := range w.lives {
		is := w.isDone(l)
		if is {
			done++
		}
		ends := res.Ends[fmt.Sprint(l.ID)]
		switch {
		case slices.Contains(ends, poll.Succeeded) && !is:
			w.blame("true", "%d succeeded, and that was not seen", l.ID)
		case slices.Contains(ends, poll.Failed) && !w.mayFail(l):
			w.blame("true", "%d failed, and nothing said so: %s", l.ID, res.Reason)
		}
	}
	if res.How == poll.Failed && w.cuts == 0 && !slices.ContainsFunc(w.lives, w.mayFail) {
		w.blame("true", "ERROR, and nothing said so: %s", res.Reason)
	}
	if need := w.need(); res.How == poll.Succeeded && w.List == nil && done < need && !w.Line.Twice {
		w.blame("true", "SUCCESS, and %d of %d are done", done, need)
	}
	return res.How == poll.Succeeded
}

// need returns how many of the operations have to succeed.
func (p *plan) need() int {
	if p.AtLeast > 0 {
		return p.AtLeast
	}
	return len(p.Ops)
}

// settling is for how long an operation that was started may not be there.
const settling = 10 * time.Second

// mayFail reports whether something has said that an operation has failed, or can never succeed.
func (w *world) mayFail(l *life) bool {
	if w.List != nil && w.failure(l) >= max(1, w.Healing) {
		return true
	}
	if w.List != nil && w.List.Start && (w.lives[0].excuse != "" || w.lives[0].flying > 0) {
		return true
	}
	row, since, isEnough := 0, time.Time{}, false
	for _, s := range l.news() {
		if row++; !s.honest || !w.fails(s.doc) && (s.doc != "" || l.Method != "" && w.List == nil || w.NotYet || w.Gone || w.Probe != "") {
			row = 0
		} else if row == 1 {
			since = s.at
		}
		isEnough = isEnough || row >= max(1, w.Errors) && s.at.Sub(since) >= w.Healing
	}
	return l.excuse != "" || l.flying > 0 || isEnough
}

// failure returns for how long an operation is failed at most, without a break.
func (w *world) failure(l *life) (most time.Duration) {
	var since time.Duration
	for i, ph := range l.Phases {
		end := time.Duration(math.MaxInt64)
		if i+1 < len(l.Phases) {
			end = l.Phases[i+1].At
		}
		if !w.fails(l.doc(ph.State, 0)) {
			since = end
		}
		most = max(most, end-since)
	}
	return most
}

// blur returns how exactly a client can compute the time of a response: Age and Date count seconds.
func (w *world) blur() time.Duration {
	if w.Cache != nil {
		return time.Second
	}
	return 0
}

// lag is how long after the first whole list the last one comes, if the number of elements is unknown.
const lag = 5 * time.Second

// checkWhole: SUCCESS of all is that of all elements that a whole list has shown.
func checkWhole(w *world, res *result) bool {
	if w.List == nil || res.How != poll.Succeeded || w.Line.Twice { // of which each has seen other lists
		return false
	}
	done, shown, known := 0, 0, 0
	for _, l := range w.lives {
		isDone := w.isDone(l)
		isShown := slices.ContainsFunc(w.wholes, func(a whole) bool { return a.shown[l.ID] != "" })
		isListed := slices.ContainsFunc(w.wholes, func(a whole) bool { return a.shown[l.ID] != "" && (!a.part || w.List.Expect > 0 && w.List.Next == "") }) // with Next a part is a failure
		isWanted := isListed && w.List.Known == nil || slices.Contains(w.List.Known, l.ID)
		if isDone {
			done++
		}
		if isShown {
			shown++
		}
		if slices.ContainsFunc(w.wholes, func(a whole) bool { return a.shown[l.ID] != "" && !a.part }) { // a part may be a failure
			known++
		}
		isForgotten := w.Line.Torn && w.cuts > 0 // a record was not on the disk, and its element has left the list
		if isWanted && !isDone && !isForgotten && w.AtLeast == 0 && w.Percent == 0 {
			w.blame("whole", "SUCCESS of all, and %d was not seen to be done", l.ID)
		}
	}
	isOpen := w.List.Known == nil && w.List.Expect == 0 && w.AtLeast == 0
	wholes := slices.DeleteFunc(slices.Clone(w.wholes), func(a whole) bool { return a.part && isOpen })
	n, settled := len(wholes), 0 // the first list since which none has shown another element
	for i, a := range wholes {
		isNew := func(l *life) bool {
			return a.shown[l.ID] != "" && !slices.ContainsFunc(wholes[:i], func(b whole) bool { return b.shown[l.ID] != "" })
		}
		if slices.ContainsFunc(w.lives, isNew) {
			settled = i
		}
	}
	isEarly := res.Deadline.Sub(res.End) > lag+time.Second || w.Line.Log == "slice"
	switch {
	case n == 0:
		w.blame("whole", "SUCCESS, and no whole list was delivered")
	case w.Percent > 0 && res.Runs == 0 && done*100 < w.Percent*known:
		w.blame("whole", "SUCCESS, and %d of %d are done, of which %d%% are needed", done, known, w.Percent)
	case done < w.AtLeast, shown < w.List.Expect && w.AtLeast == 0:
		w.blame("whole", "SUCCESS, %d shown of %d expected, %d done of %d", shown, w.List.Expect, done, w.AtLeast)
	case isOpen && isEarly && wholes[n-1].made.Sub(wholes[settled].last) < lag-w.blur():
		w.blame("whole", "SUCCESS at once after a list of unknown length has shown another element, %s before the deadline", res.Deadline.Sub(res.End))
	}
	return true
}

// mostSends is how often a start is sent where redirects repeat it.
const mostSends = 3

// checkOnce: nothing is started twice, or unasked, and no redirects have it sent on and on.
func checkOnce(w *world, _ *result) (exercised bool) {
	for _, l := range w.lives {
		exercised = exercised || l.starts > 0
		if l.starts > 1+l.again || l.starts > 0 && l.Method == "" {
			w.blame("once", "%d was started %d times", l.ID, l.starts)
		}
	}
	return exercised
}

// checkQuiet: no secret is in an output of poll.
func checkQuiet(w *world, res *result) bool {
	for _, said := range res.Said {
		if secret := secretIn(said); secret != "" {
			w.blame("quiet", "%s stands in %.200q", secret, said)
		}
	}
	return w.saw["another origin asked"]
}

// checkOnTime: the deadline and the number of attempts hold.
func checkOnTime(w *world, res *result) bool {
	begun := w.processes[len(w.processes)-1].began // a run may begin after the deadline
	late := min(res.End.Sub(res.Deadline), res.End.Sub(begun))
	isOver := res.How == poll.AttemptsExhausted || w.Most > 0 && len(w.Ops) == 1 && w.List == nil && res.Attempts > w.Most
	switch {
	case late > 50*time.Millisecond && w.Caller != "step":
		w.blame("on time", "it ended %s after the deadline", late)
	case isOver && (w.Most == 0 || res.Attempts > w.Most && len(w.Ops) == 1 && w.List == nil):
		w.blame("on time", "%d attempts, and %d were allowed", res.Attempts, w.Most)
	}
	return res.How == poll.TimedOut || res.How == poll.AttemptsExhausted
}

// checkAwake: an end that can be reached is noticed before the deadline, or by the runs that
// resume.
func checkAwake(w *world, res *result) bool {
	isNear := w.Unless && strings.Contains(w.Until.text(), ".stat ") // so that it may be a mistake
	isLeaving := w.List != nil && (w.List.Gone || w.List.Cut != "")
	if w.isLine() && w.Line.Learn > 0 && w.Threshold+int(w.Steady+w.Healing) > 1 { // the next look comes when past runs were done
		return false
	}
	if w.Lag > 0 && w.Threshold > 1 && w.saw["fault connection"] { // by attempts that took no time it seems that each of the looks takes less
		return false
	}
	if w.Unless && w.List != nil && w.List.Next != "auto" { // the first look of a run may have the name of the next page wrong
		return false
	}
	if s := w.Stream; s != nil && (s.Every == 0 && w.Threshold > 1 || (s.Replay || s.Named) && w.Threshold+int(w.Steady+w.Healing) > 1) { // nobody says it that often in a row
		return false
	}
	if w.Line.Twice || w.Line.Patience > 0 || w.AtLeast > 0 || w.Percent > 0 || isNear || isLeaving || w.saw["clock jumps"] && w.Caller == "step" {
		return false
	}
	if w.Hung > 0 {
		return w.areOthersAwake(res)
	}
	since := w.troubled
	for _, l := range w.lives {
		if w.List != nil && w.List.Known != nil && !slices.Contains(w.List.Known, l.ID) {
			continue
		}
		last := l.started.Add(l.Phases[len(l.Phases)-1].At)
		hints := []time.Time{last, w.longest[fmt.Sprint(l.ID)]}
		for key, t := range w.longest {
			if strings.HasPrefix(key, "list") {
				hints = append(hints, t)
			}
		}
		for _, t := range hints {
			if t.After(since) {
				since = t
			}
		}
		doc := l.docAt(last.Add(time.Second))
		hasFailed := !w.isGone() && !w.Unless && w.Errors == 0 && w.fails(doc) // no look confirms an ERROR in time
		if l.started.IsZero() || !w.isSuccess(sighting{doc: doc, honest: true, at: last}) && !hasFailed {
			return false
		}
	}
	begun := res.Deadline.Add(-w.Timeout)
	if w.Line.Log != "" && (w.List != nil || len(w.Ops) > 1) { // several runs may be needed
		begun = w.began
	}
	if begun.After(since) {
		since = begun
	}
	if res.Deadline.Sub(since) < w.margin() {
		return false
	}
	cut := res.End
	if w.Stream != nil && w.Stream.Slow { // the pauses within a message may differ from those of earlier messages
		cut = cut.Add(-2 * time.Second)
	}
	isCut := w.answered.After(cut) && !(w.isLine() && w.Line.Log != "") // the time that is kept for the last look is twice what others took
	if res.How == poll.TimedOut && !isCut {
		w.blame("awake", "it has been so for %s, and nobody noticed", res.Deadline.Sub(since))
	}
	return !isCut || res.How != poll.TimedOut
}

// areOthersAwake: hosts that hang do not delay the ends of other targets.
func (w *world) areOthersAwake(res *result) (exercised bool) {
	for _, l := range w.lives[:len(w.lives)-w.Hung] {
		since := l.started.Add(l.Phases[len(l.Phases)-1].At)
		is := w.isSuccess(sighting{doc: l.docAt(since.Add(time.Second)), honest: true})
		for _, t := range []time.Time{w.troubled, w.longest[fmt.Sprint(l.ID)]} {
			if t.After(since) {
				since = t
			}
		}
		took := res.Deadline.Sub(since)
		if !is || took < time.Minute {
			continue
		}
		if exercised = true; slices.Contains(res.Ends[fmt.Sprint(l.ID)], poll.TimedOut) {
			w.blame("awake", "%d has been so for %s, and nobody noticed, since others hang", l.ID, took)
		}
	}
	return exercised
}

// margin returns how long before the deadline an end is noticed, at least by the last attempt.
func (p *plan) margin() time.Duration {
	margin := 2500*time.Millisecond + 2*p.Lag
	switch {
	case p.Line.Log != "" && (p.List != nil || len(p.Ops) > 1): // several runs may be needed
		margin = 75 * time.Second
	case p.List != nil:
		margin = 10*time.Second + time.Duration(len(p.Ops))*(2*p.Lag+200*time.Millisecond)
		if p.Rate > 0 { // two lists, whose pages come 2 s apart after a refusal
			margin += 2 * 2 * time.Second * time.Duration(1+len(p.Ops)/max(1, p.List.Size))
		}
	case len(p.Ops) > 1:
		margin += time.Duration(len(p.Ops)) * time.Second
	}
	if p.Cache != nil { // a copy may be the second last list
		margin += 20 * time.Second
	}
	margin += p.Steady
	if p.Healing > 0 { // no time for the look that confirms an ERROR is kept
		margin += p.Healing + max(20*time.Second, p.Interval)
	}
	if p.Threshold > 0 {
		margin += time.Duration(p.Threshold) * max(time.Second, p.Interval)
		if p.Stream != nil {
			margin += time.Duration(p.Threshold) * p.Stream.Every
		}
	}
	return margin
}

// checkPolite: an operation by itself is not asked about more often than the schedule says.
func checkPolite(w *world, res *result) bool {
	took, most := w.ended.Sub(w.began), 8+3*res.Runs+w.Threshold
	for n, at := 0, time.Duration(0); at <= took; n++ {
		if at += w.Interval; w.Interval == 0 {
			at += min(20*time.Second, 100*time.Millisecond<<min(n, 10))
		}
		most++
	}
	if w.Line.Twice {
		most *= 2
	}
	requests := -w.asked["dial"]
	for name, n := range w.asked {
		if name != w.origin()+":80" { // requests that lead to home, where they are counted
			requests += n
		}
	}
	if allowed := 5 + len(w.Faults) + int(float64(w.Rate)*took.Seconds()); w.Rate > 0 && w.Probe == "" && len(w.processes) == 1 && requests > allowed {
		w.blame("polite", "in %s, %d requests a second are allowed, and there were %d requests", took, w.Rate, requests)
	}
	anew := 0 // looks of a schedule that has begun anew, after a SUCCESS that is to be confirmed
	if w.Threshold > 1 || w.Steady > 0 {
		anew = 10 + w.Threshold + int(w.Steady/(20*time.Second))
	}
	for _, l := range w.lives {
		most := most
		for i, s := range l.seen {
			if w.isSuccess(s) && (i == 0 || !w.isSuccess(l.seen[i-1])) {
				most += anew
			}
			if w.Healing > 0 && w.fails(s.doc) { // a look when it has lasted
				most++
			}
		}
		if n := len(l.seen); n > most && w.List == nil && w.Stream == nil && w.Line.Learn == 0 {
			w.blame("polite", "in %s, the schedule has %d looks, and there were %d looks", took, most, n)
		}
	}
	return w.saw["hint"]
}

// checkTold: every target ends once, and the wait has an end.
func checkTold(w *world, res *result) bool {
	isLine := res.Code >= 0
	for name, ends := range res.Ends {
		if len(ends) > 1+w.cuts && !(isLine && w.Line.Print == "json") && !w.mayReopen(name) {
			w.blame("told", "%s ended %d times", name, len(ends))
		}
		if slices.Contains(ends, poll.Cancelled) && res.How != poll.Succeeded && !w.FailFast {
			w.blame("told", "%s was cancelled, and the goal was not reached", name)
		}
	}
	isOther := isLine && (res.Code == 2 && w.Line.Twice || res.Code == 125 && (len(w.Kills) > 0 || w.Line.Full))
	if res.How == "" && !isOther {
		w.blame("told", "no end, exit code %d", res.Code)
	}
	return true
}

// mayReopen reports whether a later slice may find a target open again: the target was done, and is not done later, or
// a response of the target is not true.
func (w *world) mayReopen(id string) bool {
	if w.Line.Log != "slice" {
		return false
	}
	if slices.ContainsFunc(w.Faults, func(f fault) bool { return f.Key == id }) {
		return true
	}
	l, wasDone := w.lifeOf(id), false
	for _, ph := range l.Phases {
		isDone := w.isSuccess(sighting{doc: l.doc(ph.State, 0), honest: true})
		if wasDone && !isDone {
			return true
		}
		wasDone = wasDone || isDone
	}
	return false
}

// checkResumable: a wait that was killed resumes. It ends in ERROR only where a start was in flight.
func checkResumable(w *world, res *result) bool {
	l := w.lives[0]
	if len(w.lives) == 1 && l.flying == 0 && l.excuse == "" && strings.Contains(strings.Join(res.Said, "\n"), "may have started") {
		w.blame("resumable", "the operation may have started, and its start was answered")
	}
	return w.cuts > 0
}
