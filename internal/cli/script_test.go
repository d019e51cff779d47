//go:build unix

package cli

import (
	stdflag "flag"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pollcli/poll/internal/term"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashHelper) != "" {
		os.Exit(m.Run())
	}
	// The scripts wait for processes more than they compute.
	stdflag.Set("test.parallel", "6")
	testscript.Main(m, map[string]func(){
		"poll":     runPoll,
		"signaled": signaled,
	})
}

// raceAtOnce keeps a program with the race detector from sleeping for a second
// at its end.
const raceAtOnce = "atexit_sleep_ms=0"

// runPoll is main.main.
func runPoll() {
	Main(World{Args: os.Args[1:], Lookup: os.LookupEnv, Streams: term.System(os.Getenv)})
}

// TestScript runs the scripts of testdata/script, each a way to use the real
// program. Beside testscript's own commands there are, in script_commands_test.go,
//
//	exitcode N PROGRAM [ARG...]   run it; a shell would report the exit code N
//	serve NAME ANSWER...          start a server, $NAME is its URL; -tls, -unix, -routes
//	requests NAME [N]             print what was asked of it; N requests, no more
//	gap NAME N D                  request N came no sooner than D after the one before
//	peak NAME N                   as many requests were under way at once, but at least 2
//	port URL                      set $PORT to its tcp:// address
//	outcome EXPR...               stdout is one valid --json outcome, and each of
//	                              these gojq expressions is true of it
//	summary EXPR...               the same of the object of several targets
//	targets EXPR...               each line of stdout is the result of one of several
//	                              targets, and each is true of the list of them
//	events EXPR...                stderr is one valid event a line, and each is
//	                              true of the list of them
//	scrub FILE NEW                copy FILE to NEW with X for times, ports, versions
//	clean FILE                    no control character and no workflow command in it
//	gone FILE...                  the processes whose numbers stand in it have ended
//
// and the program signaled. A script inherits nothing of the test's environment
// but PATH.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(5 * time.Minute), // a wait would last for ten
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", raceAtOnce)
			return nil
		},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitcode,
			"serve":    serve,
			"requests": requests,
			"gap":      gap,
			"peak":     peak,
			"port":     port,
			"outcome":  outcome,
			"summary":  summary,
			"targets":  targetResults,
			"events":   events,
			"scrub":    scrub,
			"clean":    clean,
			"gone":     gone,
		},
	})
}
