package connect

import "context"

// A Caller is the program that runs a wait, such as poll itself. The commands of the wait read the Caller from
// the context of the run. The zero value is a program without any wish.
type Caller struct {
	// ReapOrphans reaps, before each attempt, every child of the process that has ended. Process 1 or a subreaper
	// needs ReapOrphans, since it inherits the processes that attempts leave. All children of the process must
	// belong to one run. Without ReapOrphans only the groups of attempts are reaped. On Windows ReapOrphans does
	// nothing.
	ReapOrphans bool
	// Hurry shortens the Grace of an attempt that is being stopped, as a second Ctrl-C does: each value that is
	// received sends SIGTERM once more, and closing the channel sends SIGKILL. With nil the Grace is never
	// shortened.
	Hurry <-chan struct{}
}

type callerKey struct{}

// WithCaller returns the context of the runs of a Caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the Caller of a run.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
