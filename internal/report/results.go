package report

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// results are the results of several targets on their way to stdout.
type results struct {
	queue  *queue // nil before the first line
	rows   []TargetResult
	winner *Result  // that succeeded, where one is enough
	number int      // the winner's
	whole  []func() // to be called once what is written at the end is written
}

// A TargetResult is the result of one of several targets: a line of stdout and, without
// value and body, an element of [Summary]. See docs/target.schema.json.
type TargetResult struct {
	V        int     `json:"v,omitempty"` // 1; none in a Summary
	N        int     `json:"n"`
	Name     name    `json:"name"`
	Status   *string `json:"status"`
	Ending   string  `json:"ending"`
	Exit     *int    `json:"exit"` // null if it was cancelled
	Reason   string  `json:"reason"`
	Attempts int     `json:"attempts"`
	Elapsed  Seconds `json:"elapsed_s"`
	Resumed  bool    `json:"resumed,omitempty"` // it had ended in an earlier run
	content
}

// A Summary is the object of --json for several targets. See docs/summary.schema.json.
type Summary struct {
	V    int `json:"v"` // 1
	Exit int `json:"exit"`
	groupEnd
	Targets []TargetResult `json:"targets"`
	Result  *TargetResult  `json:"result,omitempty"` // of the one that succeeded, where one is enough
}

// A groupEnd is how several targets ended, in JSON.
type groupEnd struct {
	Status   *string        `json:"status"`
	Ending   string         `json:"ending"`
	Reason   string         `json:"reason"`
	Goal     string         `json:"goal"`
	Need     int            `json:"need"`
	Counts   map[string]int `json:"counts"` // of targets, by their endings
	Attempts int            `json:"attempts"`
	*sharing
	Elapsed Seconds  `json:"elapsed_s"`
	Notes   []string `json:"notes,omitempty"` // on what was not remembered
}

// groupEnd describes how several targets ended.
func (r *Reporter) groupEnd(s *poll.Summary) groupEnd {
	counts := make(map[string]int)
	for e, word := range endingWords() {
		counts[word] = r.group.ended[e]
	}
	return groupEnd{
		Status: statusWord(statusOf(s.Ending)), Ending: endingWords()[s.Ending], Reason: r.verdict(s), Goal: r.cfg.Goal,
		Need: s.Need, Counts: counts, Attempts: s.Attempts, sharing: r.sharing(s.Attempts, s.Taken, s.Alone),
		Elapsed: seconds(s.Elapsed), Notes: oneLines("", r.notes, r.said),
	}
}

// endingWords returns the endings as words for programs.
func endingWords() map[poll.Ending]string {
	return map[poll.Ending]string{
		poll.Succeeded: "succeeded", poll.Failed: "failed", poll.CannotRun: "cannot_run",
		poll.HintTooLong: "throttled", poll.AttemptsExhausted: "exhausted", poll.TimedOut: "timed_out",
		poll.Interrupted: "interrupted", poll.Cancelled: "cancelled",
	}
}

// WriteTarget takes the result of the target with number n, which would end a single
// wait with exit. It writes it to stdout or keeps what [Reporter.WriteSummary] needs. It
// waits only where [Reporter.MayWait]. A list, whose number is 0, has no result but those
// of its elements. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	out, o := result.output, result.Outcome
	if n == 0 {
		return nil
	}
	if out.JSON {
		r.results.rows = append(r.results.rows, targetResult(n, result, exit))
	}
	switch {
	case !out.PerTarget:
		if o.Ending == poll.Succeeded && r.results.winner == nil {
			r.results.winner, r.results.number = &result, n
		}
		return nil
	case out.JSON, o.Resumed:
		return nil
	case len(out.Print) > 1 && o.Ending != poll.Succeeded:
		return nil
	case len(out.Print) > 1:
		return r.writeLine(out, func(w io.Writer) error { _, err := w.Write(r.answer(result)); return err })
	}
	line := targetResult(n, result, exit)
	line.V = 1
	if len(out.Print) == 0 && o.Observation != nil {
		line.setBody(o.Observation)
	}
	return r.writeLine(out, func(w io.Writer) error { return writeObject(w, line, line.content) })
}

// MayWait reports whether [Reporter.WriteTarget] may have to wait for who reads stdout: a
// terminal, or anyone if much is still unread, or if an answer is long.
func (r *Reporter) MayWait(result Result) bool {
	o := result.Outcome.Observation
	return r.onTerminal() || r.results.queue.Full() || o != nil && len(o.Body) > maxWhole
}

// onTerminal reports whether stdout is the terminal where status lines are drawn.
func (r *Reporter) onTerminal() bool { return r.cfg.Face == Live && r.cfg.Streams.OutIsTerminal }

// Delivered calls f once the result that [Reporter.WriteTarget] has taken last is on stdout,
// at once if it does not go there. Where that fails it never does. It may call f on another
// goroutine.
func (r *Reporter) Delivered(result Result, f func()) {
	switch out := result.output; {
	case out.JSON, !out.PerTarget && result.Outcome.Ending == poll.Succeeded:
		r.results.whole = append(r.results.whole, f)
	case r.results.queue != nil:
		r.results.queue.Then(f)
	default:
		f()
	}
}

// writeLine writes a line of stdout. On the terminal where stderr is, too, it does not
// queue: who does not read the one does not read the other.
func (r *Reporter) writeLine(out Output, write func(io.Writer) error) (err error) {
	if r.onTerminal() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inBackground()
		r.con.around(func() { err = write(r.cfg.Streams.Out) })
	} else {
		if r.results.queue == nil {
			r.results.queue = newQueue(r.cfg.Streams.Out, out.lost)
		}
		err = write(r.results.queue)
	}
	if err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// lost tells that nobody reads stdout any more.
func (out Output) lost(err error) {
	if out.Lost != nil {
		out.Lost(&ResultError{Err: err})
	}
}

// WriteSummary ends the output of several targets: with JSON it writes the [Summary],
// and where one target was enough its result. Then it waits until all is written, and
// closes stdout. exit is the exit code of the process. An error is a [*ResultError].
func (r *Reporter) WriteSummary(out Output, s poll.Summary, exit int) error {
	err := r.writeSummary(out, s, exit)
	if err == nil {
		for _, f := range r.results.whole {
			f()
		}
	}
	return err
}

func (r *Reporter) writeSummary(out Output, s poll.Summary, exit int) error {
	winner := r.results.winner
	switch {
	case out.JSON:
		byNumber := func(a, b TargetResult) int { return cmp.Compare(a.N, b.N) }
		slices.SortFunc(r.results.rows, byNumber)
		r.mu.Lock()
		end := r.groupEnd(&s)
		r.mu.Unlock()
		d := Summary{V: 1, Exit: exit, groupEnd: end, Targets: append([]TargetResult{}, r.results.rows...)}
		var c content
		if winner != nil {
			line := targetResult(r.results.number, *winner, 0)
			if o := winner.Outcome.Observation; o != nil {
				line.setBody(o)
			}
			d.Result, c = &line, line.content
		}
		return writeOut(r.cfg.Streams, func(w io.Writer) error { return writeObject(w, d, c) })
	case winner != nil:
		return r.WriteResult(*winner, exit)
	case r.results.queue == nil:
		return nil // nothing succeeded
	}
	if err := errors.Join(r.results.queue.Close(), r.cfg.Streams.CloseOut()); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// targetResult describes a result without the answer.
func targetResult(n int, result Result, exit int) TargetResult {
	o := result.Outcome
	t := TargetResult{
		N: n, Name: name(o.Target), Status: statusWord(o.Status), Ending: endingWords()[o.Ending],
		Exit: &exit, Reason: term.Line(o.Reason), Attempts: o.State.Attempts, Elapsed: seconds(o.Elapsed),
		Resumed: o.Resumed,
	}
	if o.Ending == poll.Cancelled {
		t.Exit = nil
	}
	t.setValue(result.values)
	return t
}

// statusOf returns what an ending of several targets says of them all.
func statusOf(e poll.Ending) status.Status {
	switch e {
	case poll.Succeeded:
		return status.Success
	case poll.Failed, poll.CannotRun:
		return status.Error
	case poll.HintTooLong:
		return status.Throttled
	}
	return status.NotReady
}
