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
	"github.com/pollcli/poll/internal/words"
)

// Exit ends the process with code. If a signal ended the wait, Exit ends the process by the same signal. A shell
// script that runs poll then also ends on Ctrl-C, because the shell sees the signal.
func Exit(ctx context.Context, code ExitCode) {
	if e, ok := errors.AsType[*system.SignalError](context.Cause(ctx)); ok && int(code) == e.ExitCode() {
		os.Exit(system.DieOf(e.Signal))
	}
	os.Exit(int(code))
}

const (
	// margin is the time for an orderly end in addition to the grace period, which is the time between TERM and KILL
	// for a command. In this time, poll reaps the killed command and prints the last message.
	margin = 2 * time.Second
	// secondMargin is the time for an orderly end after a second signal.
	secondMargin = time.Second
	// messageTime is the time limit for the message that a Guard prints before it ends the process. It is also the
	// limit for the rest of a result that is being written when a signal arrives.
	messageTime = 100 * time.Millisecond
)

// A Guard ends the process if an orderly end takes too long after a signal or after the deadline. The process may
// block in a call without a context, such as a write to a full pipe. For the same reason, the Guard limits the time
// of its own writes. It need not watch the command of an attempt, because stopping a command never blocks.
type Guard struct {
	ctx      context.Context            // canceled by the first signal
	hurry    <-chan struct{}            // closed on the second signal
	patience atomic.Int64               // the time.Duration that an orderly end may take
	late     atomic.Pointer[time.Timer] // ends the process after the deadline; nil before the deadline
	writing  atomic.Bool                // whether a result is being written
	once     sync.Once
	end      func(error)
}

func NewGuard(ctx context.Context, hurry <-chan struct{}, stderr io.Writer) *Guard {
	g := &Guard{ctx: ctx, hurry: hurry}
	g.patience.Store(int64(read.DefaultGrace + margin))
	g.end = func(cause error) {
		inTime, cancel := context.WithTimeout(context.Background(), messageTime)
		defer cancel()
		Await(inTime, func() error {
			_, err := fmt.Fprintf(stderr, "poll: %v; unfinished attempts are given up\n", cause)
			return err
		})
		Exit(ctx, CodeOf(cause))
	}
	return g
}

// setDeadline sets the grace period of commands, and starts a timer for the run's deadline. It starts no timer if
// timeout is 0 (no timeout). It has no effect if g is nil.
func (g *Guard) setDeadline(timeout time.Duration, deadline time.Time, grace time.Duration) {
	if g == nil {
		return
	}
	g.patience.Store(int64(words.Sum(grace, margin)))
	if timeout > 0 {
		time.AfterFunc(time.Until(deadline), func() { g.atDeadline(&timeoutError{timeout}) })
	}
}

// giveUpIn returns a timer that ends the process after the duration d, with a message and the exit code for cause.
// If a result is being written, the message reports that the result is incomplete.
func (g *Guard) giveUpIn(d time.Duration, cause error) *time.Timer {
	return time.AfterFunc(d, func() {
		if g.writing.Load() { // a SUCCESS that poll has already reported is then invalid
			cause = fmt.Errorf("%w, and the result was not written in full by then", cause)
		}
		g.once.Do(func() { g.end(cause) })
	})
}

// atDeadline starts the timer that limits an orderly end. It is called at the deadline. The timer starts now and
// not at the deadline's wall-clock time, because the process may have been suspended. A signal stops the timer,
// because AtSignal starts a timer of its own.
func (g *Guard) atDeadline(cause error) {
	late := g.giveUpIn(time.Duration(g.patience.Load()), cause)
	context.AfterFunc(g.ctx, func() { late.Stop() })
	g.late.Store(late)
}

// Touch restarts the timer that started at the deadline. It is called after each write to stdout, which shows that
// the reader is still reading the result.
func (g *Guard) Touch() {
	if late := g.late.Load(); late != nil && late.Stop() {
		late.Reset(time.Duration(g.patience.Load()))
	}
}

// AtSignal limits the time for an orderly end after a signal. It starts a timer that ends the process. After a
// second signal, it ends the process within secondMargin. It does nothing if ctx was canceled without a signal.
func (g *Guard) AtSignal() {
	cause := context.Cause(g.ctx)
	if errors.Is(cause, context.Canceled) {
		return // the run has ended without a signal
	}
	g.giveUpIn(time.Duration(g.patience.Load()), cause)
	<-g.hurry
	g.giveUpIn(secondMargin, cause)
}

// withHost returns a copy of ctx that carries the settings for the commands that w runs. Only a wait for a single
// target reaps orphaned processes. With several targets, reaping could take the exit code of another target's
// command.
func (w *wait) withHost(ctx context.Context) context.Context {
	grace := hurriedGrace
	if w.process.Lookup.Get(read.KillAfter) != "" {
		grace /= 2
	}
	return connect.WithCaller(ctx, connect.Caller{
		ReapOrphans: w.process.Release != nil && !w.spec.IsSeveral(),
		Hurry:       hurried(w.process.Hurry, grace),
	})
}

// hurriedGrace is the time between a second TERM signal to poll and the KILL signal to its command. If this poll
// runs as the command of another poll, it uses half of hurriedGrace, so that it kills its own command before it is
// killed.
const hurriedGrace = 200 * time.Millisecond

// hurried returns a channel for the field Hurry of [connect.Caller]. When hurry is closed, the channel delivers one
// value, so that one running command receives TERM again. After the time grace, the channel is closed, so that every
// running command receives KILL. If hurry is nil, hurried returns nil.
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
