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
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/system"
)

// Exit ends the process with code. If a signal ended the wait, Exit ends the process by that signal: a shell
// then knows that Ctrl-C was meant for its script, too.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(system.DieOf(e.Signal))
	}
	os.Exit(int(code))
}

const (
	// margin is added to the grace for an orderly end. It covers waiting for the killed program and the last
	// message.
	margin = 2 * time.Second
	// secondMargin is the time for an orderly end after the second signal.
	secondMargin = time.Second
	// messageTime is the time for the guard's message, and for a result that is being written at a signal.
	messageTime = 100 * time.Millisecond
)

// A Guard ends the process if an orderly end after a signal or the deadline takes too long. The process may
// hang in a call without a context, such as a write to a full pipe. So each such call of the guard itself has
// a time limit. The guard does not cover the program of an attempt, since stopping a program cannot hang.
type Guard struct {
	ctx      context.Context            // done at the first signal
	hurry    <-chan struct{}            // closed at the second signal
	patience atomic.Int64               // how long an orderly end may take, a duration
	late     atomic.Pointer[time.Timer] // ends the process after the deadline; nil before the deadline
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

// setDeadline starts the guard's timer for the run's deadline and sets the grace of commands. It starts no
// timer if timeout is 0, and does nothing if g is nil.
func (g *Guard) setDeadline(timeout time.Duration, deadline time.Time, grace time.Duration) {
	if g == nil {
		return
	}
	g.patience.Store(int64(grace + margin))
	if timeout > 0 {
		time.AfterFunc(time.Until(deadline), func() { g.atDeadline(&timeoutError{timeout}) })
	}
}

// giveUpIn returns a timer that ends the process after d, with the exit code for cause.
func (g *Guard) giveUpIn(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() { g.once.Do(func() { g.giveUp(cause) }) })
}

// atDeadline starts the time for an orderly end. The time starts at this call, since the process may have been
// suspended past the deadline. A signal cancels the timer, since AtSignal starts its own timer.
func (g *Guard) atDeadline(cause error) {
	late := g.giveUpIn(time.Duration(g.patience.Load()), cause)
	context.AfterFunc(g.ctx, func() { late.Stop() })
	g.late.Store(late)
}

// Touch restarts the time after the deadline, since a reader is still reading the result.
func (g *Guard) Touch() {
	if late := g.late.Load(); late != nil && late.Stop() {
		late.Reset(time.Duration(g.patience.Load()))
	}
}

// AtSignal limits the time of an orderly end after a signal. It ends the process when the time after the first signal
// is used up, or secondMargin after the second signal. It does nothing if no signal came.
func (g *Guard) AtSignal() {
	cause := context.Cause(g.ctx)
	if errors.Is(cause, context.Canceled) {
		return // no signal: the run has ended
	}
	g.giveUpIn(time.Duration(g.patience.Load()), cause)
	<-g.hurry
	g.giveUpIn(secondMargin, cause)
}

// giveUp ends the process with a message. If a result was being written, the message reports that the result
// is incomplete: the reported SUCCESS does not hold then.
func (g *Guard) giveUp(cause error) {
	if g.writing.Load() {
		cause = fmt.Errorf("%w, and the result was not written in full by then", cause)
	}
	g.end(cause)
}

// withHost returns the context of a run with the settings for its commands. Orphans are only reaped in a wait
// for a single target: with several targets, one command's reaping would take the exit codes of the other
// commands.
func (w *wait) withHost(ctx context.Context) context.Context {
	grace := hurriedGrace
	if w.process.Getenv(read.KillAfter) != "" {
		grace /= 2
	}
	return connect.WithCaller(ctx, connect.Caller{
		ReapOrphans: w.process.Release != nil && !w.spec.IsSeveral(),
		Hurry:       hurried(w.process.Hurry, grace),
	})
}

// hurriedGrace is the time from the second TERM to the KILL. If poll itself runs under poll, it uses half of
// hurriedGrace, so that it kills its command before it is killed.
const hurriedGrace = 200 * time.Millisecond

// hurried returns a channel that shortens the end of a command. The channel receives one value when hurry is
// closed, and is closed after the grace. With several commands only one receives the value. hurried returns
// nil if hurry is nil.
func hurried(hurry <-chan struct{}, grace time.Duration) <-chan struct{} {
	if hurry == nil {
		return nil
	}
	sooner := make(chan struct{}, 1)
	go func() {
		<-hurry
		sooner <- struct{}{}
		time.Sleep(grace)
		close(sooner)
	}()
	return sooner
}
