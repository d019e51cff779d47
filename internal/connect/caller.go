package connect

import "context"

// A Caller holds the settings of the program that calls poll's library, such as the command poll itself. Attempts
// that run a program read these settings from the context of the run. The zero Caller changes nothing.
type Caller struct {
	// If ReapOrphans is true, each attempt first reaps all child processes that have ended. It is needed if this
	// process is process 1 or a subreaper, and so inherits the processes that attempts leave. All children of this
	// process must belong to one run. If ReapOrphans is false, only processes in the process groups of attempts are
	// reaped. On Windows, ReapOrphans has no effect.
	ReapOrphans bool
	// Hurry shortens the grace period of an attempt that is being stopped, for example after a second Ctrl-C. For
	// each value in the channel, SIGTERM is sent again. When the channel is closed, SIGKILL is sent. If Hurry is nil,
	// the grace period is never shortened.
	Hurry <-chan struct{}
}

// A callerKey is the key of the Caller in a context.
type callerKey struct{}

// WithCaller returns a copy of ctx that carries c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the Caller that ctx carries, or the zero Caller.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
