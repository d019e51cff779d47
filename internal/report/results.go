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
	winner *Result // that succeeded, where one is enough
	number int     // the winner's
}

// A TargetResult is the result of one of several targets: a line of stdout and, without
// value and body, an element of [Summary]. See docs/target.schema.json.
type TargetResult struct {
	V        int     `json:"v,omitempty"` // 1; none in a Summary
	N        int     `json:"n"`
	Name     string  `json:"name"`
	Status   *string `json:"status"`
	Ending   string  `json:"ending"`
	Exit     *int    `json:"exit"` // null if it was cancelled
	Reason   string  `json:"reason"`
	Attempts int     `json:"attempts"`
	Elapsed  Seconds `json:"elapsed_s"`
	content
}

// A Summary is the object of --json for several targets. See docs/summary.schema.json.
type Summary struct {
	V        int            `json:"v"` // 1
	Status   *string        `json:"status"`
	Ending   string         `json:"ending"`
	Exit     int            `json:"exit"`
	Reason   string         `json:"reason"`
	Goal     string         `json:"goal"`
	Need     int            `json:"need"`
	Counts   map[string]int `json:"counts"`
	Attempts int            `json:"attempts"`
	Elapsed  Seconds        `json:"elapsed_s"`
	Targets  []TargetResult `json:"targets"`
	Result   *TargetResult  `json:"result,omitempty"` // of the one that succeeded, where one is enough
}

// endingWord returns an ending as a word for programs.
func endingWord(e poll.Ending) string {
	words := [...]string{
		poll.Succeeded: "succeeded", poll.Failed: "failed", poll.CannotRun: "cannot_run",
		poll.HintTooLong: "throttled", poll.AttemptsExhausted: "exhausted", poll.TimedOut: "timed_out",
		poll.Interrupted: "interrupted", poll.Cancelled: "cancelled",
	}
	return words[e]
}

// WriteTarget takes the result of the target with number n, which would end a single
// wait with exit. It writes it to stdout or keeps what [Reporter.WriteSummary] needs. It
// waits only while much is still unread there. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	out, o := result.output, result.Outcome
	if out.JSON {
		r.results.rows = append(r.results.rows, targetResult(n, result, exit))
	}
	switch {
	case !out.PerTarget:
		if o.Ending == poll.Succeeded && r.results.winner == nil {
			r.results.winner, r.results.number = &result, n
		}
		return nil
	case out.JSON:
		return nil
	case len(out.Print) > 1:
		return r.writeLine(out, func(w io.Writer) error { _, err := w.Write(result.Answer()); return err })
	}
	line := targetResult(n, result, exit)
	line.V = 1
	if len(out.Print) == 0 && o.Observation != nil {
		line.setBody(o.Observation)
	}
	return r.writeLine(out, func(w io.Writer) error { return writeObject(w, line, line.content) })
}

// writeLine writes a line of stdout.
func (r *Reporter) writeLine(out Output, write func(io.Writer) error) error {
	if r.results.queue == nil {
		r.results.queue = newQueue(r.cfg.Streams.Out, func(err error) {
			if out.Lost != nil {
				out.Lost(&ResultError{Err: err})
			}
		})
	}
	if err := write(r.results.queue); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// WriteSummary ends the output of several targets: with JSON it writes the [Summary],
// and where one target was enough its result. Then it waits until all is written, and
// closes stdout. exit is the exit code of the process. An error is a [*ResultError].
func (r *Reporter) WriteSummary(out Output, s poll.Summary, exit int) error {
	winner := r.results.winner
	switch {
	case out.JSON:
		d := r.summary(s, exit)
		var c content
		if winner != nil {
			line := targetResult(r.results.number, *winner, 0)
			line.setBody(winner.Outcome.Observation)
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
		N: n, Name: term.Line(o.Target), Status: statusWord(o.Status), Ending: endingWord(o.Ending),
		Exit: &exit, Reason: term.Line(o.Reason), Attempts: o.Attempts, Elapsed: seconds(o.Elapsed),
	}
	if o.Ending == poll.Cancelled {
		t.Exit = nil
	}
	t.setValue(result.values)
	return t
}

// summary describes how several targets ended.
func (r *Reporter) summary(s poll.Summary, exit int) Summary {
	rows := slices.SortedFunc(slices.Values(r.results.rows), func(a, b TargetResult) int { return cmp.Compare(a.N, b.N) })
	d := Summary{
		V: 1, Status: statusWord(statusOf(s.Ending)), Ending: endingWord(s.Ending), Exit: exit,
		Goal: term.Line(r.cfg.Goal), Need: s.Need, Counts: make(map[string]int),
		Attempts: s.Attempts, Elapsed: seconds(s.Elapsed), Targets: append([]TargetResult{}, rows...),
	}
	for e := poll.Succeeded; e <= poll.Cancelled; e++ {
		d.Counts[endingWord(e)] = 0
	}
	for _, t := range rows {
		d.Counts[t.Ending]++
	}
	return d
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
