package cli

import (
	stdflag "flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/ui/term"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashHelper) != "" {
		os.Exit(m.Run())
	}
	// Scripts wait for processes more than they compute, unless the race detector is enabled.
	parallel := "12"
	if withRaceDetector() {
		parallel = "6"
	}
	stdflag.Set("test.parallel", parallel)
	testscript.Main(m, programs())
}

// raceAtOnce keeps a program with the race detector from sleeping for a second
// at its end.
const raceAtOnce = "atexit_sleep_ms=0"

// withRaceDetector reports whether this program has the race detector.
func withRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// crashHelper is the environment variable that makes the test binary a program that crashes.
const crashHelper = "POLL_TEST_CRASH_HELPER"

// runPoll does the same as main.main.
func runPoll() {
	Main(Process{Args: os.Args[1:], Lookup: os.LookupEnv, Streams: term.System(os.Getenv)})
}

// TestScript runs the scripts of testdata/script. Each script uses the real program in one way. The commands
// of testscript are extended by script_commands_test.go:
//
//	exitcode N PROGRAM [ARG...]   run it; a shell would report the exit code N
//	serve NAME ANSWER...          start a server, $NAME is its URL; -tls, -unix, -routes
//	requests NAME [N]             print the received requests; exactly N requests
//	gap NAME N D                  request N came at least D after request N-1
//	port URL                      set $PORT to its tcp:// address
//	outcome EXPR...               stdout is one valid --json outcome, and each of
//	                              these gojq expressions is true of it
//	summary EXPR...               the same for the object of several targets
//	targets EXPR...               each line of stdout is the result of one of several
//	                              targets, and each is true of the list of them
//	events EXPR...                stderr is one valid event a line, and each is
//	                              true of the list of them
//	scrub FILE NEW                copy FILE to NEW with X for times, ports, versions
//	clean FILE                    no control character and no workflow command in it
//	gone FILE...                  the processes whose ids are in the files have ended
//
// Scripts also have the program signaled, and the conditions [race] and, on systems with Unix sockets, [sockets].
// A script only inherits PATH from the test's environment. Commands beyond the sh of script_sh_windows_test.go,
// such as signals, have the condition [unix].
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

// TestScript_plain runs the scripts of testdata/plain, whose facts need no process of their own, one after
// another in the process of the test. script_call_test.go adds
//
//	call poll [ARG...]            call the function of main; the exit code is 0, after ! another one
//	exitcode N poll [ARG...]      the same, with exit code N
//	set NAME=VALUE...             set variables of calls and of processes, in place of env
//	input FILE                    FILE is the stdin of the next call, in place of stdin
//
// A call has no terminal, no signals and no process to become. It must not read HTTP_PROXY, which net/http
// reads only once. POLL_MAX_WAIT is 5ms. The race detector would find nothing here.
func TestScript_plain(t *testing.T) {
	if withRaceDetector() {
		t.Skip("without the race detector only")
	}
	p := scripts("testdata/plain")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		defer prepareCalls(env)
		env.Setenv("POLL_MAX_WAIT", "5ms")
		return setup(env)
	}
	addCalls(p.Cmds)
	testscript.RunT(inTurn{t}, p)
}

// scripts returns the parameters of the scripts in a directory.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:      dir,
		Deadline: time.Now().Add(9 * time.Minute), // less than the 10 minutes of the default timeout
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", raceAtOnce)
			env.Setenv("LC_ALL", "C")
			env.Setenv("HOME", "/no-home") // like on Unix
			return nil
		},
		Condition:           condition,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitcode,
			"serve":    serve,
			"requests": requests,
			"gap":      gap,
			"port":     port,
			"outcome":  outcome,
			"summary":  summary,
			"targets":  targetResults,
			"events":   events,
			"scrub":    scrub,
			"clean":    clean,
			"gone":     gone,
		},
	}
}

func condition(name string) (bool, error) {
	switch name {
	case "race":
		return withRaceDetector(), nil
	case "sockets":
		return haveSockets()
	}
	return false, fmt.Errorf("there is no condition %s", name)
}

// haveSockets reports whether there are Unix sockets, as not in Wine 8.
func haveSockets() (bool, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return false, nil
	}
	return true, listener.Close()
}
