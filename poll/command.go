package poll

import (
	"context"
	"io"
	"time"

	"github.com/pollcli/poll/poll/internal/process"
	"github.com/pollcli/poll/status"
)

const (
	// DefaultGrace is the Grace of a [Command] whose Grace is zero.
	DefaultGrace = process.DefaultGrace
	// NoGrace is the Grace of a [Command] that is killed without a warning.
	NoGrace time.Duration = -1
)

// A Command is a [Probe] that runs a program. Its standard output is the answer,
// its exit code says whether that is good.
//
// On Unix the program gets a process group of its own, so that it can be
// stopped with everything it has started. An attempt ends when the program has
// ended and its outputs are closed. Processes that it leaves behind are left
// alone; while they hold an output open, the attempt waits for them no longer
// than the Grace, and is complete even so.
//
// An attempt whose context is done before the program has ended is stopped: the
// group gets SIGTERM and SIGCONT, SIGKILL when the Grace is over and some member
// is still there, and the observation has a Failure. On Windows there is no
// warning: the program itself, not what it has started, is killed at once.
//
// On Linux the program gets SIGTERM if the calling process is killed or crashes
// during the attempt.
//
// A Command is not changed by an attempt and may be used by several runs at
// once. No reason or error contains an argument of the command.
type Command struct {
	// Args are the program and its arguments; no shell reads them. A program
	// without a slash is looked up in PATH, one with a slash is relative to Dir.
	Args []string
	// Dir is the working directory; "" is that of the calling process.
	Dir string
	// Env is the environment as "key=value"; nil is that of the calling process.
	// POLL_ATTEMPT (from 1), POLL_ELAPSED (whole seconds since the start of the
	// run) and POLL_STATUS (of the attempt before, empty at first) are added.
	Env []string
	// Stdin is the standard input of every attempt; nil is an empty one.
	Stdin []byte
	// Foreground leaves the program in the process group of the caller, as
	// timeout(1) does with its option of that name. It may then use the terminal;
	// only the program itself is stopped, not what it has started.
	Foreground bool
	// Grace is the time between SIGTERM and SIGKILL for an attempt that has to be
	// stopped, and the longest wait for outputs that are held open after the
	// program has ended. Zero is DefaultGrace; NoGrace, or any negative value,
	// is none: SIGKILL at once.
	Grace time.Duration
	// MaxBody is the most that is kept of an answer, in bytes. What comes after
	// is read and counted. Zero is 64 MiB.
	MaxBody int64
	// Stderr gets the program's standard error as it comes, from a goroutine of
	// its own; nil passes nothing on. It is given up for the rest of an attempt
	// at its first error. While a Write blocks, the attempt cannot end.
	Stderr io.Writer
	// ReapOrphans reaps every child of the calling process that has ended, before
	// and during an attempt. Where that process is process 1 or a subreaper, it
	// inherits what attempts leave behind. All its children must be those of one
	// run. On Windows ReapOrphans does nothing.
	ReapOrphans bool
	// Hurry ends an attempt that is being stopped before its Grace is over, as at a
	// second Ctrl-C: a value that comes from it sends SIGTERM once more, and when it
	// is closed SIGKILL follows. Nil never does.
	Hurry <-chan struct{}
}

// Probe runs the program once, as the first attempt of a run of its own.
func (c Command) Probe(ctx context.Context, a Attempt) status.Observation {
	return c.Session().Probe(ctx, a)
}

// Session returns the probe of one run, which keeps its buffers and the place where
// the program was found. Its Probe must not be called twice at once.
func (c Command) Session() Probe { return commandSession{process.NewSession(process.Command(c))} }

type commandSession struct{ *process.Session }

func (s commandSession) Probe(ctx context.Context, a Attempt) status.Observation {
	return s.Session.Probe(ctx, process.Attempt(a))
}

// Target returns the name of the program.
func (c Command) Target() string {
	if len(c.Args) == 0 {
		return ""
	}
	return TargetName(c.Args[0])
}

// Check says whether the program can be run, without running it. It returns nil
// if it seems so. For a program that cannot be run the error is a
// [*status.Failure] with the kind FailureNotFound or FailureNotExecutable.
func (c Command) Check() error { return process.Command(c).Check() }
