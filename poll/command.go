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

// A Command is a [Probe] that runs a program. Its standard output is the response, which is successful if the exit code
// is 0.
//
// On Unix the program runs in its own process group, so that it can be stopped with all processes that it has
// started. An attempt ends when the program has ended and its outputs are closed. If other processes hold an output
// open, the attempt waits for them for at most Grace, and is complete even then; then the group is stopped. A group
// that holds no output is left alone, and so is a process that has left the group, as by setsid(1).
//
// If the context is done before the program has ended, the group is stopped, and the observation has a Failure. A
// group that is stopped gets SIGTERM and SIGCONT, then SIGKILL if a member is left after Grace.
//
// On Windows the program leads a process group, which gets Ctrl-Break to end. It runs in a job object, which is
// terminated after Grace with all processes that the program has started, or at once without a shared console. No
// process can leave the job. cmd.exe gets the text after its /c or /k as it is written. The arguments of a batch file
// are quoted so that no argument is run; an argument with a quote or a line break is rejected.
//
// If the calling process is killed or crashes during the attempt, the program gets SIGTERM on Linux, and ends with all
// processes that it has started on Windows.
//
// An attempt does not change the Command, so several runs may use it at once. No reason or error contains an argument
// of the command, and its Target at most the first.
type Command struct {
	// Args are the program and its arguments; no shell reads them. A program
	// without a slash is looked up in PATH, one with a slash is relative to Dir.
	Args []string
	// Dir is the working directory; "" means the caller's.
	Dir string
	// Env is the environment as "key=value"; nil means the caller's. POLL_ATTEMPT (from
	// 1), POLL_ELAPSED (whole seconds since the start of the run) and POLL_STATUS (of the
	// previous attempt, empty at first) are added.
	Env []string
	// Stdin is the standard input of every attempt; nil means empty.
	Stdin []byte
	// Foreground leaves the program in the caller's process group, like timeout(1) with
	// its option of that name. The program may then use the terminal. A program in another group waits for the
	// terminal until the attempt is stopped. Only the program itself is stopped, and not the processes that it has
	// started. On Windows all of them are stopped, without Ctrl-Break: Ctrl-C reaches them as it reaches the caller.
	Foreground bool
	// Grace is the time between SIGTERM and SIGKILL for an attempt that has to be
	// stopped, and the longest wait for outputs that are held open after the program has
	// ended, of 0.2 s at least. Zero means 2 s; any negative value means SIGKILL at once.
	Grace time.Duration
	// MaxBody is how many bytes of the output are kept at most. The rest is read and counted. Zero means 64 MiB.
	MaxBody int64
	// Stream evaluates each message of the outputs when it comes: a line of standard output or of standard error, or a
	// JSON document of several lines. A message that decides the wait is the response, and ends the program with
	// all processes that it has started. Otherwise the program is run again after its end and a wait; only rules
	// that read $exit are evaluated on its end. The wait needs a rule for SUCCESS.
	Stream bool
	// Stderr gets the program's standard error as it comes, from another goroutine; nil
	// means nobody. After an error it gets nothing more in that attempt. While a Write
	// blocks, the attempt cannot end.
	Stderr io.Writer
}

// Check runs the program once, as the first attempt of a new wait.
func (c Command) Check(ctx context.Context, a Attempt) Report {
	return commandProbe{process.NewSession(process.Command(c)), c.origin()}.Check(ctx, a)
}

// Plan returns the plan of the attempts. Its Invalid is the reason why the program cannot be run, without
// running it. For a program that is missing or not executable Invalid is a [*status.Failure] with the kind
// FailureNotFound or FailureNotExecutable. An argument that a batch file cannot be given is another error.
func (c Command) Plan() Plan {
	return Plan{Name: c.Target(), Origin: c.origin(), Invalid: process.Command(c).Check(), streams: c.Stream, lines: c.Stream}
}

// A commandProbe runs a program again. Its session reaps the processes that earlier attempts have left running.
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

// Target returns the name of the program and its first argument, such as "kubectl get". It leaves out an argument that
// may hold a secret: a flag, an argument with any of =:@ or another mark, and an argument that looks like a token.
// Any further argument may be a password.
func (c Command) Target() string {
	name := c.origin()
	if len(c.Args) > 1 && isPlain(c.Args[1]) && len(name)+1+len(c.Args[1]) <= maxName {
		name += " " + c.Args[1]
	}
	return name
}

// maxName is how long the name of a command may become, in bytes.
const maxName = 60

// isPlain reports whether an argument of a command is a name, and not a flag, an expression or a token. Tokens
// have many letters and digits without a mark in between.
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

// origin returns the name of the program.
func (c Command) origin() string {
	if len(c.Args) == 0 {
		return ""
	}
	return request.TargetName(c.Args[0])
}
