package poll

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/pollcli/poll/poll/internal/process"
	"github.com/pollcli/poll/poll/internal/request"
)

// A Command is a [Probe] that runs a program. The program's standard output is the response. The response is
// successful if the exit code is 0.
//
// On Unix the program runs in its own process group, so that it can be stopped together with the processes that
// it has started. An attempt ends when the program has exited and its outputs are closed. If other processes
// keep an output open, the attempt waits for them for at most Grace; then their group is stopped, and the
// attempt still counts as complete. A process that keeps no output open, or that has left the group (for
// example with setsid), may continue to run.
//
// If the context is done before the program has exited, the group is stopped, and the observation has a
// Failure. To stop a group, Command sends SIGTERM and SIGCONT and, if a process of the group still exists after
// Grace, SIGKILL.
//
// On Windows the program is the leader of a process group, and runs in a job object. To stop it, Command sends
// Ctrl-Break to the group, and after Grace terminates the job object with all processes that the program has
// started. If the program shares no console with the caller, the job object is terminated at once. No process
// can leave the job object. The text after the /c or /k of cmd.exe is passed on unchanged. The arguments of a
// batch file are quoted so that none of them is executed; an argument that contains a quote or a line break is
// rejected.
//
// If the calling process crashes or is killed during an attempt, the program receives SIGTERM on Linux. On
// Windows, the program and all processes that it has started end.
//
// Check does not modify the Command, so several runs may use it at the same time. Arguments do not appear in
// reasons and errors, and only the first one can appear in Target.
type Command struct {
	// Args contains the program and its arguments, which no shell interprets. A program without a slash is
	// looked up in PATH; a program with a slash is relative to Dir.
	Args []string
	// Dir is the working directory. "" means the working directory of the caller.
	Dir string
	// Env is the environment, with entries of the form "key=value". Nil means the environment of the caller.
	// Three variables are added: POLL_ATTEMPT (the number of the attempt, from 1), POLL_ELAPSED (whole seconds
	// since the start of the wait) and POLL_STATUS (the status of the previous attempt, empty for the first).
	Env []string
	// Stdin is the standard input for every attempt. Nil means empty input.
	Stdin []byte
	// Foreground runs the program in the caller's process group, so that it may use the terminal, like
	// timeout(1) with its option --foreground. In another group, a program that uses the terminal blocks until
	// the attempt is stopped. With Foreground, only the program itself is stopped, not the processes that it
	// has started. On Windows all of them are stopped, but without Ctrl-Break, because Ctrl-C reaches them as
	// it reaches the caller.
	Foreground bool
	// Grace is the time between SIGTERM and SIGKILL when an attempt is stopped. It is also the maximum time, at
	// least 0.2 s, to wait for outputs that other processes keep open after the program has exited. Zero means
	// 2 s. A negative value means that SIGKILL is sent at once.
	Grace time.Duration
	// MaxBody is the maximum number of bytes kept of the output. Further output is read and counted. Zero means
	// 64 MiB.
	MaxBody int64
	// Stream evaluates each message of the output as soon as it arrives. A message is a line of standard output
	// or standard error, or a JSON document that extends over several lines. A message that decides the wait
	// becomes the response, and the program is stopped with all processes that it has started. If the program
	// exits first, it is run again after a wait; only rules that read $exit are evaluated on its exit. The wait
	// needs a rule for SUCCESS.
	Stream bool
	// Stderr, if not nil, receives the program's standard error as it is written, from another goroutine. If a
	// Write fails, Stderr receives nothing more in that attempt. While a Write blocks, the attempt cannot end.
	Stderr io.Writer
}

// Check runs the program once, as in the first attempt of a new wait.
func (c Command) Check(ctx context.Context, a Attempt) Report {
	return commandProbe{process.NewSession(process.Command(c)), c.origin()}.Check(ctx, a)
}

// Plan returns the plan of the attempts, without running the program. If the program cannot be run,
// Plan.Invalid is the reason. It is a [*status.Failure] of the kind FailureNotFound or FailureNotExecutable if
// the program is missing or not executable, and another error if an argument cannot be passed to a batch file.
func (c Command) Plan() Plan {
	return Plan{Name: c.Target(), Origin: c.origin(), Invalid: process.Command(c).Check(), streams: c.Stream, lines: c.Stream}
}

// A commandProbe runs the program in each attempt of a wait. Its session also reaps the processes that earlier
// attempts have left running, as soon as they exit.
type commandProbe struct {
	*process.Session
	origin string
}

func (p commandProbe) Plan() Plan { return Plan{Origin: p.origin, streams: p.Stream, lines: p.Stream} }

func (p commandProbe) Check(ctx context.Context, a Attempt) Report {
	o := p.Run(ctx, a.message(), a.Number, fmt.Sprint("POLL_ATTEMPT=", a.Number),
		fmt.Sprint("POLL_ELAPSED=", int64(a.Elapsed/time.Second)), "POLL_STATUS="+string(a.Previous))
	return Report{Observation: o, Next: p}
}

// Target returns the name of the program followed by its first argument, for example "kubectl get". It omits
// the argument if it might be a secret: if it is a flag, contains a character such as = : or @, or looks like a
// token. Further arguments are always omitted, because any of them may be a password.
func (c Command) Target() string {
	name := c.origin()
	if len(c.Args) > 1 && isPlain(c.Args[1]) && len(name)+1+len(c.Args[1]) <= maxName {
		name += " " + c.Args[1]
	}
	return name
}

// maxName is the maximum length of a command's name, in bytes.
const maxName = 60

// isPlain reports whether word, an argument of a command, looks like a plain name, and not like a flag, an
// expression or a token. A token has a long sequence of letters and digits.
func isPlain(word string) bool {
	const longest = 20
	isMark := func(r rune) bool { return strings.ContainsRune("./-", r) }
	isOther := func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r > unicode.MaxASCII
	}
	for part := range strings.FieldsFuncSeq(word, isMark) {
		if len(part) >= longest || strings.ContainsFunc(part, isOther) {
			return false
		}
	}
	return word != "" && word[0] != '-'
}

// origin returns the name of the program, or "" without Args.
func (c Command) origin() string {
	if len(c.Args) == 0 {
		return ""
	}
	return request.TargetName(c.Args[0])
}
