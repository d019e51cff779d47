package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
)

// A caller runs poll in the process of the test, for one script.
type caller struct {
	env    map[string]string // the variables of the script
	input  string            // stdin of the next call
	bubble *bubble           // for calls in virtual time; nil for real time
}

type callerKey struct{}

// addCalls adds the commands that run poll in this process.
func addCalls(commands map[string]func(*testscript.TestScript, bool, []string)) {
	commands["call"], commands["exitcode"], commands["input"], commands["set"] = call, exitcodeOfCall, setInput, set
}

// prepareCalls adds a caller to the environment of a script.
func prepareCalls(env *testscript.Env) *caller {
	c := &caller{env: map[string]string{}}
	for _, variable := range env.Vars {
		name, value, _ := strings.Cut(variable, "=")
		c.env[name] = value
	}
	env.Values[callerKey{}] = c
	return c
}

func callerOf(ts *testscript.TestScript) *caller { return ts.Value(callerKey{}).(*caller) }

// set sets variables for calls and processes.
func set(ts *testscript.TestScript, neg bool, args []string) {
	for _, variable := range args {
		name, value, ok := strings.Cut(variable, "=")
		if neg || !ok {
			ts.Fatalf("usage: set NAME=VALUE...")
		}
		callerOf(ts).env[name] = value
		ts.Setenv(name, value)
	}
}

// setInput sets the file for stdin of the next call.
func setInput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	callerOf(ts).input = ts.ReadFile(args[0])
}

// call calls poll, which must end with exit code 0, or after ! with a different exit code.
func call(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != "poll" {
		ts.Fatalf("usage: call poll [arg...]")
	}
	if code := callerOf(ts).call(ts, args[1:]); neg != (code != run.ExitSuccess) {
		ts.Fatalf("have exit code %d", code)
	}
}

// exitcodeOfCall calls poll, or runs another program, and checks the exit code.
func exitcodeOfCall(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "poll" {
		exitcode(ts, neg, args)
	} else if have := callerOf(ts).call(ts, args[2:]); fmt.Sprint(int(have)) != args[0] {
		ts.Fatalf("have exit code %d, want %s", have, args[0])
	}
}

// call runs poll in this process. The working directory and the environment of the process belong to the
// script during the call, so no other test may run.
func (c *caller) call(ts *testscript.TestScript, args []string) run.ExitCode {
	dir, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(dir)
	before := os.Environ()
	defer setEnviron(before)
	var environ []string
	for name, value := range c.env {
		environ = append(environ, name+"="+value)
	}
	setEnviron(environ)

	streams, _, _ := term.Buffers(c.input)
	c.input = ""
	streams.Out, streams.Err = ts.Stdout(), ts.Stderr()
	streams.Unicode, streams.NoColor = false, c.env["NO_COLOR"] != ""
	process := Process{Args: args, Lookup: os.LookupEnv, Streams: streams}
	if c.bubble != nil {
		return c.bubble.run(process)
	}
	ctx, cancel := context.WithCancel(context.Background()) // a deadline would shorten the wait and change the output
	defer time.AfterFunc(4*patience, cancel).Stop()
	defer cancel()
	return Run(ctx, process)
}

func setEnviron(environ []string) {
	os.Clearenv()
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
}

// inTurn runs scripts sequentially.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel()     {}
func (t inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}
