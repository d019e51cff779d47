package ui

import (
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// WriteResult writes a result to stdout and closes stdout: the [Result.Answer] or, with
// JSON, a [Document]. A failure without JSON writes nothing. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	switch {
	case result.output.JSON:
		r.mu.Lock()
		document := r.document(result, exit)
		r.mu.Unlock()
		return writeObject(r.cfg.Streams, document)
	case result.Outcome.Ending != poll.Succeeded:
		return nil
	}
	return WriteOut(r.cfg.Streams, result.answer(r.cfg.Streams.OutIsTerminal))
}

// WriteTarget writes the result of the target with number n to stdout, or keeps the result for
// [Reporter.WriteSummary]. exit is the exit code of a single wait for the target. A list, whose number is 0, has
// only the results of its elements. On a terminal with a table of the targets, a result without
// --print is not written. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	if n == 0 {
		return nil
	}
	s, out, o := &r.results, result.output, &result.Outcome
	s.mu.Lock()
	defer s.mu.Unlock()
	target := TargetResult{N: n, Name: o.Target, outcomeJSON: endOf(o).json(exit)}
	target.setValue(result.values)
	if out.JSON {
		s.rows = append(s.rows, target)
	}
	if !out.PerTarget && s.winner == nil && o.Ending == poll.Succeeded {
		target.result = result
		target.setBody(o.Observation)
		s.winner = &target
	}
	switch {
	case out.JSON, !out.PerTarget, o.Resumed:
		return nil
	case len(out.Print) > 0:
		return r.writeLine(result.answer(r.cfg.Streams.OutIsTerminal))
	case r.isDrawnOver():
		return nil
	}
	target.V = 1
	target.setBody(o.Observation)
	line, _ := encode(target) // never fails for numbers, texts and valid JSON
	return r.writeLine(line)
}

// isDrawnOver reports whether stdout is a terminal that shows status lines.
func (r *Reporter) isDrawnOver() bool { return r.cfg.Face == Live && r.cfg.Streams.OutIsTerminal }

// writeLine writes a line to stdout, above the status lines if they are on the same terminal.
func (r *Reporter) writeLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if r.isDrawnOver() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.con.inBackground(); r.con.drawn != "" {
			r.con.finish("")
			defer r.draw(time.Now())
		}
	}
	r.results.begun = true
	if _, err := r.cfg.Streams.Out.Write(line); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// WriteSummary writes the end of the output of several targets: with JSON the [Summary], and if one
// target was enough its result. Then it closes stdout. exit is the exit code of the process. An error is a
// [*ResultError].
func (r *Reporter) WriteSummary(out Output, s poll.Summary, exit int) error {
	r.results.mu.Lock()
	defer r.results.mu.Unlock()
	switch winner := r.results.winner; {
	case out.JSON:
		r.mu.Lock()
		summary := r.summary(&s, r.results.rows, r.results.winner, exit)
		r.mu.Unlock()
		return writeObject(r.cfg.Streams, summary)
	case winner != nil:
		return r.WriteResult(winner.result, exit)
	case r.results.begun:
		return WriteOut(r.cfg.Streams, nil)
	}
	return nil // nothing was written
}

// WriteFailure writes the --json object of a run that never started, as after a usage
// error. The object has no status, no ending and no target. again reports whether the same command may be run again.
func WriteFailure(s *term.Streams, exit int, again bool, reason string) error {
	return writeObject(s, Document{V: 1, outcomeJSON: outcomeJSON{Exit: exit, Reason: term.Line(reason)}, callAgain: callAgain{Again: again}, Timeline: []Moment{}})
}
