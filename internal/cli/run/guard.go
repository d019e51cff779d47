package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/system"
)

// Exit ends the process with a code, or by the signal that ended the wait, so that
// the shell running a script knows that Ctrl-C was meant for the script, too.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(system.DieOf(e.Signal))
	}
	os.Exit(int(code))
}

const (
	// margin is how much longer than the grace an orderly end may take: the killed
	// program is waited for, and the last message is written.
	margin = 2 * time.Second
	// secondMargin is the same after the second signal.
	secondMargin = time.Second
	// messageTime is how long the guard's message, and a result being written at a
	// signal, may still take.
	messageTime = 100 * time.Millisecond
)

// A Guard is the last resort: it ends the process if that should have ended, by a
// signal or at the deadline, but is stuck in something without a context, such as a
// write to a pipe that nobody reads. It relies on nothing of that. The program of
// an attempt needs no guard, since stopping it cannot get stuck.
type Guard struct {
	ctx      context.Context            // done at the first signal
	hurry    <-chan struct{}            // closed at the second
	patience atomic.Int64               // how long an orderly end may take, a duration
	late     atomic.Pointer[time.Timer] // ends the process after the deadline; nil until then
	writing  atomic.Bool                // the result is being written
	once     sync.Once
	end      func(error)
}

func NewGuard(ctx context.Context, hurry <-chan struct{}, stderr io.Writer) *Guard {
	g := &Guard{ctx: ctx, hurry: hurry}
	g.patience.Store(int64(read.DefaultGrace + margin))
	g.end = func(cause error) {
		words, cancel := context.WithTimeout(context.Background(), messageTime)
		defer cancel()
		Await(words, func() error {
			_, err := fmt.Fprintf(stderr, "poll: %v; what was under way is given up\n", cause)
			return err
		})
		Exit(ctx, CodeOf(cause))
	}
	return g
}

// setDeadline sets the deadline of the run, if there is a timeout, and the grace of its commands.
func (g *Guard) setDeadline(timeout time.Duration, deadline time.Time, grace time.Duration) {
	if g == nil {
		return
	}
	g.patience.Store(int64(grace + margin))
	if timeout > 0 {
		time.AfterFunc(time.Until(deadline), func() { g.atDeadline(&timeoutError{timeout}) })
	}
}

// giveUpIn ends the process after a while.
func (g *Guard) giveUpIn(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() { g.once.Do(func() { g.giveUp(cause) }) })
}

// atDeadline gives an orderly end its time. That begins now: the process may have been stopped until
// then. After a signal, atSignal ends the process.
func (g *Guard) atDeadline(cause error) {
	late := g.giveUpIn(time.Duration(g.patience.Load()), cause)
	context.AfterFunc(g.ctx, func() { late.Stop() })
	g.late.Store(late)
}

// Touch puts off the end after the deadline, since somebody has read a part of the result.
func (g *Guard) Touch() {
	if late := g.late.Load(); late != nil && late.Stop() {
		late.Reset(time.Duration(g.patience.Load()))
	}
}

// AtSignal ends the process after the first signal, sooner if there is a second.
func (g *Guard) AtSignal() {
	cause := context.Cause(g.ctx)
	if errors.Is(cause, context.Canceled) {
		return // it ends by itself
	}
	g.giveUpIn(time.Duration(g.patience.Load()), cause)
	<-g.hurry
	g.giveUpIn(secondMargin, cause)
}

// giveUp ends the process. A SUCCESS that was reported before its result was written does not hold.
func (g *Guard) giveUp(cause error) {
	if g.writing.Load() {
		cause = fmt.Errorf("%w, and the result was not written in full by then", cause)
	}
	g.end(cause)
}
