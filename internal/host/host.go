// Package host says what the commands of a run have to know of the program that runs them, such as
// poll itself. It is in the context of the run.
package host

import "context"

// A Host is a program that has a run. The zero value is one that wants nothing special.
type Host struct {
	// ReapOrphans reaps every child of the process that has ended, before each attempt. It is for
	// process 1 or a subreaper, which inherits what attempts leave behind. All its children must
	// belong to one run. Without it, only what has stayed in the groups of attempts is reaped. On
	// Windows ReapOrphans does nothing.
	ReapOrphans bool
	// Hurry cuts short the Grace of an attempt that is being stopped, as a second Ctrl-C
	// does: each value received sends SIGTERM once more, and closing it sends SIGKILL.
	// Nil never does.
	Hurry <-chan struct{}
}

type key struct{}

// With returns the context of the runs of a host.
func With(ctx context.Context, h Host) context.Context { return context.WithValue(ctx, key{}, h) }

// Of returns the host of a run.
func Of(ctx context.Context) Host {
	h, _ := ctx.Value(key{}).(Host)
	return h
}
