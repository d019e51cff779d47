package run

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
)

// A wait is what the command line says about waiting, checked, and what is built from that. Nothing
// of it changes while it runs. A single wait is a group of one, but for what goes to stdout.
type wait struct {
	spec    *read.Run
	process Host

	targets []*read.Target

	group  *poll.Group             // nil for a single wait
	learns map[int]*learn.Recorder // of targets by number; 0 is a single wait, or a list
	log    *resume.Log             // nil without --joblog
	share  *fleet.Fleet            // nil without --share
	advice string                  // about a program that cannot be run

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter
}

// deadline returns when the time for everything is over: in centuries if there is
// no timeout.
func (w *wait) deadline() time.Time {
	return w.process.Began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// note adds what is said before the wait begins, unless it is empty.
func (w *wait) note(texts ...string) {
	isEmpty := func(text string) bool { return text == "" }
	w.report.Opening = append(w.report.Opening, slices.DeleteFunc(texts, isEmpty)...)
}
