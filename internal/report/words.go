package report

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// How much of text from outside is shown: lines, and columns of each.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// oneLine returns a reason, which may quote an answer, as part of one line.
func oneLine(s string) string {
	const columns, bytes = 300, 8 << 10 // shown; looked at to find them
	return term.Cut(term.Line(s[:min(len(s), bytes)]), columns, "...")
}

// opening says what the wait is for and how long it may take, and usually takes. Of
// timeout and maxAttempts, 0 is no limit.
func (r *Reporter) opening(what string, timeout time.Duration, maxAttempts int) string {
	text := "poll: waiting for " + what
	if until := r.cfg.Until; len(until) > 0 {
		text += " until " + term.Cut(term.Line(strings.Join(until, " or ")), 120, "...")
	}
	if timeout > 0 {
		text += ", up to " + words.Short(timeout)
	} else {
		text += ", without a time limit"
	}
	if maxAttempts > 0 {
		text += ", at most " + words.Count(maxAttempts, "attempt")
	}
	for _, line := range append([]string{r.outlook()}, r.cfg.Opening...) {
		if line != "" {
			text += "\npoll: " + oneLine(line)
		}
	}
	return text + "\n"
}

// verdictWords returns the reason of a verdict and, if there is a threshold, how
// many in a row there were.
func verdictWords(ev poll.Event) string {
	s := oneLine(ev.Verdict.Reason)
	if ev.Threshold > 1 && ev.Verdict.Status.Ends() {
		s += fmt.Sprintf(" (%d of %d in a row)", ev.State.Streak, ev.Threshold)
	}
	if ev.HoldFor > 0 && ev.Held < ev.HoldFor {
		s += fmt.Sprintf(" (for %s of %s)", words.Short(ev.Held), words.Duration(ev.HoldFor))
	}
	return s
}

// hintWords says that the server asked for a wait, and for how long if the wait
// differs from that.
func hintWords(ev poll.Event) string {
	switch h := ev.Hint; {
	case h == nil:
		return ""
	case words.Short(h.Wait) == words.Short(ev.Wait):
		return ", as " + oneLine(h.Source) + " asks"
	default:
		return fmt.Sprintf(" (%s asks for %s)", oneLine(h.Source), words.Short(h.Wait))
	}
}

// closing returns the last words of a run. summary comes after the first line.
func (r *Reporter) closing(o *poll.Outcome, summary string) string {
	text := "poll: " + ending(o, r.cfg.Palette) + "\n" + summary + r.latencyWords(o)
	if o.Ending != poll.Succeeded && o.Observation != nil {
		text += lastAnswer(o.Observation, r.child != nil)
	}
	for _, s := range advice(o) {
		text += "poll: " + s + "\n"
	}
	return text
}

// ending says how a run ended: the status, the attempts, the time and the reason.
func ending(o *poll.Outcome, p term.Palette) string {
	how, reason := "no answer", o.Reason
	if o.Status != status.None {
		how = paint(p, o.Status.String(), 0)
	}
	if !endedByVerdict(o.Ending) {
		how = p.Paint(term.Bad, string(o.Ending)) + ": " + how
	}
	// The run's own reason would repeat the limit.
	limit := o.Ending == poll.TimedOut || o.Ending == poll.AttemptsExhausted
	if limit && o.Verdict.Reason != "" {
		reason = o.Verdict.Reason
	}
	if reason = oneLine(reason); reason != "" {
		reason = ": " + reason
	}
	return how + " after " + words.Count(o.Attempts, "attempt") + shareWords(o) + " in " + words.Clock(o.Elapsed) + reason
}

// shareWords says how many of the attempts others made, "" if none.
func shareWords(o *poll.Outcome) string {
	if o.Taken+o.Alone == 0 {
		return ""
	}
	var parts []string
	for _, c := range []count{{n: o.Attempts - o.Taken - o.Alone, word: "asked"}, {n: o.Taken, word: "taken"}, {n: o.Alone, word: "alone"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// heldWords says what holds back an attempt that is due, "" for nothing.
func heldWords(by poll.HeldBy) string {
	return map[poll.HeldBy]string{
		poll.HeldByGate:    "held until its place opens",
		poll.HeldByRate:    "held by the shared rate",
		poll.HeldByAnother: "another process asks",
	}[by]
}

// waitWords says how long a wait goes on, and why, as far as that is not the schedule. How
// long another process asks is not known.
func waitWords(what string, ev poll.Event, left time.Duration) string {
	held := heldWords(ev.HeldBy)
	switch ev.HeldBy {
	case "":
		held = hintWords(ev)
	case poll.HeldByAnother:
		return held
	default:
		held = ", " + held
	}
	return what + words.Short(left) + held
}

// endedByVerdict reports whether the status alone explains the ending.
func endedByVerdict(e poll.Ending) bool {
	return e == poll.Succeeded || e == poll.Failed || e == poll.CannotRun
}

// summary lists the statuses seen and for how long, the time that attempts took and
// the time waited. For a run of one attempt it is empty.
func summary(u *run, p term.Palette) string {
	if u.attempts < 2 {
		return ""
	}
	var seen []string
	for _, c := range u.statuses {
		text := paint(p, c.status.String(), 0)
		if c.lasted >= 100*time.Millisecond { // less would show as 0.0s
			text += " for " + words.Clock(c.lasted)
		}
		seen = append(seen, fmt.Sprintf("%s (%s)", text, words.Count(c.attempts, "attempt")))
	}
	average := u.took / time.Duration(max(1, u.attempts-u.taken))
	took := fmt.Sprintf("attempts took %s on average, at most %s", atLeastOne(average), atLeastOne(u.longest))
	if u.waits > 0 {
		took += fmt.Sprintf("; %s, %s in total", words.Count(u.waits, "wait"), words.Clock(u.waited))
	}
	return "poll: " + strings.Join(seen, ", ") + "\npoll: " + took + "\n"
}

// lastAnswer shows the answer to the last attempt.
func lastAnswer(o *status.Observation, stderrShown bool) string {
	code, text := answerCode(o), ""
	what := "the last answer"
	if code != "" {
		what += " (" + code + ")"
	}
	switch {
	case len(o.Body) > 0:
		text = fmt.Sprintf("poll: %s, %s:\n%s", what, sizeWords(o), excerpt(o.Body, closingHead, blockWidth, false))
	case code != "" && len(o.Stderr) == 0:
		text = "poll: " + what + " was empty\n"
	}
	if len(o.Stderr) > 0 && !stderrShown {
		text += "poll: the end of its stderr:\n" + excerpt(o.Stderr, closingTail, blockWidth, true)
	}
	return text
}

// answerCode returns the code of an answer in words: HTTP 404, exit 3.
func answerCode(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return "HTTP " + strconv.Itoa(*o.Code)
	case o.Exit != nil:
		return "exit " + strconv.Itoa(*o.Exit)
	}
	return ""
}

func sizeWords(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// excerpt returns at most so many lines of text from outside as a block, each at
// most so many columns wide: the first lines or, with fromEnd, the last.
func excerpt(text []byte, lines, columns int, fromEnd bool) string {
	// Most of a large body is not shown, and need not be sanitized.
	part := text
	if limit := lines * columns * utf8.UTFMax; len(text) > limit {
		at := limit // or where the rune there begins
		if fromEnd {
			at = len(text) - limit
		}
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		if part = text[:at]; fromEnd {
			part = text[at:]
		}
	}
	var rows []string
	for row := range strings.Lines(term.Block(string(part))) {
		rows = append(rows, term.Cut(strings.TrimSuffix(row, "\n"), columns, "...")+"\n")
	}
	const more = "| ...\n"
	switch {
	case len(rows) <= lines && len(part) == len(text):
		return strings.Join(rows, "")
	case fromEnd:
		return more + strings.Join(rows[max(0, len(rows)-lines):], "")
	}
	return strings.Join(rows[:min(len(rows), lines)], "") + more
}

// advice returns what made the verdict doubtful, what would have decided, and which
// flags would turn such an end into a wait, or a result.
func advice(o *poll.Outcome) []string {
	list := append(oneLines("note: ", o.Verdict.Notes, o.Notes), hints(o.Verdict)...)
	if o.Observation == nil {
		return list
	}
	list = append(list, remedy(o.Verdict.Advice))
	if o.Ending == poll.Succeeded {
		return slices.DeleteFunc(list, func(s string) bool { return s == "" })
	}
	list = append(list, instead(o))
	if o.Observation.Truncated {
		list = append(list, "to keep more of the answer: --max-body SIZE")
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// remarks returns what programs are told besides the reason.
func remarks(o *poll.Outcome) []string {
	list := append(oneLines("", o.Verdict.Notes, o.Notes), hints(o.Verdict)...)
	if s := remedy(o.Verdict.Advice); s != "" {
		list = append(list, s)
	}
	return list
}

// hints returns what may have been meant where a rule read something missing.
func hints(v status.Verdict) []string {
	isSaid := func(hint string) bool { return strings.Contains(v.Reason, hint) }
	list := slices.DeleteFunc(slices.Clone(v.Hints), isSaid)
	if v.Advice.Code == status.AdviceNext {
		list = append(list, "--next EXPR reads its URL, --next '?NAME={EXPR}' a parameter; --next none if this page is all")
	}
	return oneLines("hint: ", list)
}

// oneLines returns each of the texts as a line with the prefix.
func oneLines(prefix string, texts ...[]string) []string {
	var list []string
	for _, s := range slices.Concat(texts...) {
		list = append(list, prefix+oneLine(s))
	}
	return list
}

// instead returns flags with which to go on after an answer that is an error by
// itself, "" for none. Expressions are quoted for a shell.
func instead(o *poll.Outcome) string {
	obs := o.Observation
	switch {
	case o.Ending != poll.Failed || o.Verdict.Rule != "":
		return ""
	case errors.Is(o.Err(), poll.ErrUntrusted), obs.Following.Untrusted:
		return "to follow it anyway, with credentials and body: --location-trusted"
	case obs.Code == nil, obs.Following.Monitor == status.MonitorResult: // no condition is evaluated on the result
		return ""
	}
	code, starts := *obs.Code, obs.Following.Start
	// These may mean that the resource does not exist yet, or is still locked.
	later := code == http.StatusNotFound || code == http.StatusConflict || code == http.StatusLocked
	decidesSuccess := func(a status.Answer) bool { return a.Rule.Status == status.Success }
	switch {
	case starts && later:
		end, again := "accepted", fmt.Sprintf("--follow none --not-ready-if '$status==%d'", code)
		if slices.ContainsFunc(o.Verdict.Answers, decidesSuccess) {
			end = "done"
		} else { // being accepted is then enough, and no condition says so yet
			again += " --until '$status<300'"
		}
		return "a start is sent once; if repeating it does no harm, this sends it until it is " + end + ": " + again
	case starts && (code == http.StatusMovedPermanently || code == http.StatusFound):
		return "to look where it leads: --follow '$header.Location'"
	case later:
		return fmt.Sprintf("to keep waiting on this answer: --not-ready-if '$status==%d'", code)
	}
	return ""
}

// remedy returns the flags that follow a verdict's advice, "" for none.
func remedy(a status.Advice) string {
	switch a.Code {
	case status.AdviceTrust:
		return "to trust it: --cacert FILE names another authority, -k accepts any certificate"
	case status.AdviceFollow:
		return "to say where to look: --follow EXPR; to repeat the request in each attempt: --follow none"
	case status.AdviceKey:
		return "to name the elements otherwise: --id EXPR, which may be repeated"
	case status.AdviceFinalStates:
		return fmt.Sprintf("to name the final state: --until '%s==\"...\"'", a.Path)
	case status.AdviceEach:
		return "to look at all pages, and wait for each element: --each EXPR, such as --each .items"
	case status.AdviceDone:
		return `to say when it is done: --until EXPR, such as --until '.state == "done"'`
	}
	return ""
}
