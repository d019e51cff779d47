package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// readElements reads --each and the conditions, as for a wait.
func (q *question) readElements() error {
	if len(q.Operands) > 1 {
		return argv.Usagef("with --each there is one operand, a FILE, and conditions are flags").
			Hint(`poll eval --each .jobs --until '.state == "done"' answer.json`)
	}
	own, err := q.readList()
	if err != nil {
		return err
	}
	q.list = &target{kind: status.KindHTTP}
	if q.Has("exit") || q.Has("stderr") {
		q.list.kind = status.KindCommand
	}
	p := &q.list.poller
	p.Elements, p.Probe, p.Immediate, p.MaxAttempts = &own.Elements, poll.ProbeFunc(q.look), true, 1
	r := reader{Spec: q.Spec, world: q.world}
	return r.readRules(q.list)
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

// judgeList makes a wait of one attempt, and prints a line for each element: its name, its
// verdict, and why. An answer that has none is judged as a whole. A summary goes to stderr.
func (q *question) judgeList(ctx context.Context) error {
	var all []poll.Event
	for event := range new(poll.Group).Events(ctx, slices.Values([]poll.Poller{q.list.poller})) {
		if event.Kind == poll.EventAttempt {
			all = append(all, event)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(all) > 1 {
		all = all[1:]
	}
	var lines strings.Builder
	var notes, hints []string
	count := map[status.Status]int{}
	for _, e := range all {
		name, v := e.Target, e.Verdict
		if e.N == 0 {
			name = "(all)"
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", term.Line(name), v.Status, term.Line(v.Reason))
		notes = append(notes, v.Notes...)
		if count[v.Status]++; v.Status == status.NotReady && hints == nil {
			var first status.Tally
			first.Add(e.Observation, v)
			hints = first.Hints()
		}
	}
	slices.Sort(notes)
	q.say("hint: ", hints)
	q.say("note: ", slices.Compact(notes))
	q.say("", []string{words.Count(len(all), "element") + ": " + words.Counts(count, status.Success, status.Error, status.Throttled, status.NotReady)})
	code := ExitSuccess
	switch {
	case count[status.Error] > 0:
		code = ExitError
	case count[status.Success] < len(all):
		code = exitUnknown
	}
	return q.end(ctx, lines.String(), code)
}
