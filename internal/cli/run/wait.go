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

// A wait holds the checked settings of a run, and the values built from the settings. A wait for a single
// target has no group.
type wait struct {
	spec    *read.Run
	process Host

	targets []*read.Target

	group  *poll.Group             // nil for a single wait
	learns map[int]*learn.Recorder // by target number; 0 is the recorder of a single wait or a list
	log    *resume.Log             // nil without --joblog
	share  *fleet.Fleet            // nil without --share
	advice string                  // about a program that cannot be run

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter
}

// deadline returns the latest end of the whole run. Without a timeout the end is centuries ahead.
func (w *wait) deadline() time.Time {
	return w.process.Began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline, with a [timeoutError] as cause.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// note adds texts to the notes that are printed before the wait. It ignores empty texts.
func (w *wait) note(texts ...string) {
	isEmpty := func(text string) bool { return text == "" }
	w.report.Opening = append(w.report.Opening, slices.DeleteFunc(texts, isEmpty)...)
}
