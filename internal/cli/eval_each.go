package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// readList reads --each and the conditions, as for a wait.
func (q *question) readList(l *argv.Line) error {
	if len(l.Operands) > 1 {
		return argv.Usagef("with --each there is one operand, a FILE, and conditions are flags").
			Hint(`poll eval --each .jobs --until '.state == "done"' answer.json`)
	}
	own, err := q.spec.readList()
	if err != nil {
		return err
	}
	q.list = &target{kind: status.KindHTTP}
	if l.Has("exit") || l.Has("stderr") {
		q.list.kind = status.KindCommand
	}
	q.list.poller.Elements = &own.Elements
	reader := reader{Spec: q.spec, world: q.world}
	return reader.readRules(q.list)
}

// look returns what an attempt would have seen.
func (q *question) look(context.Context, poll.Attempt) status.Observation {
	o := status.Observation{Kind: q.list.kind, Body: q.env.Body, Size: int64(len(q.env.Body)), Stderr: q.env.Stderr, Header: q.env.Header}
	if o.Kind == status.KindHTTP {
		o.Code = cmp.Or(q.env.Status, new(200))
	} else {
		o.Exit = cmp.Or(q.env.Exit, new(0))
	}
	return o
}

// judge makes a wait of one attempt, and returns the verdicts on the elements: the events of
// the attempt. An answer that has none is judged as a whole.
func (q *question) judge(ctx context.Context) []poll.Event {
	p := q.list.poller
	p.Probe, p.Immediate, p.MaxAttempts = poll.ProbeFunc(q.look), true, 1
	var all []poll.Event
	for event := range (&poll.Group{}).Events(ctx, slices.Values([]poll.Poller{p})) {
		if event.Kind == poll.EventAttempt {
			all = append(all, event)
		}
	}
	if len(all) > 1 {
		return all[1:]
	}
	return all
}

// judgeList prints a line for each element: its name, its verdict, and why. A summary goes to
// stderr.
func (q *question) judgeList(ctx context.Context, l *argv.Line, stderr io.Writer) error {
	all := q.judge(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var lines strings.Builder
	var notes, hints []string
	count := map[status.Status]int{}
	for _, e := range all {
		name := e.Target
		if e.N == 0 {
			name = "(all)"
		}
		v := e.Verdict
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", term.Line(name), v.Status, term.Line(v.Reason))
		notes = append(notes, v.Notes...)
		if count[v.Status]++; v.Status == status.NotReady && hints == nil {
			var first status.Tally
			first.Add(e.Observation, v)
			hints = first.Hints()
		}
	}
	if err := l.Write(ctx, lines.String()); err != nil {
		return err
	}
	slices.Sort(notes)
	say(stderr, "hint: ", hints)
	say(stderr, "note: ", slices.Compact(notes))
	return summarize(len(all), count, stderr)
}

// summarize says how many elements have come to what. The error is the exit code.
func summarize(n int, count map[status.Status]int, stderr io.Writer) error {
	var parts []string
	for _, s := range []status.Status{status.Success, status.Error, status.Throttled, status.NotReady} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	fmt.Fprintln(stderr, words.Count(n, "element")+": "+strings.Join(parts, ", "))
	switch {
	case count[status.Error] > 0:
		return &exitError{ExitError}
	case count[status.Success] < n:
		return &exitError{exitUnknown}
	}
	return nil
}
