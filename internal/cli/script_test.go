package cli

import (
	"encoding/json"
	"errors"
	stdflag "flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/itchyny/gojq"
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
	Main(NewProcess(os.Args[1:], os.LookupEnv, term.System(os.Getenv)))
}

// TestScript runs the scripts of testdata/script. Each script uses the real program in one way. The commands
// of testscript are extended by the functions at the end of this file:
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
// A script only inherits PATH from the test's environment. Commands beyond the sh of script_windows_test.go,
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

// exitcode runs a program and checks its exit code.
func exitcode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	have, err := codeOf(ts.Exec(args[1], args[2:]...))
	ts.Check(err)
	if have != want {
		ts.Fatalf("have exit code %d, want %d", have, want)
	}
}

// codeOf returns the exit code that a shell reports for a program that ended with the error ended. It returns
// an error if the program could not run.
func codeOf(ended error) (code int, err error) {
	exit, ok := errors.AsType[*exec.ExitError](ended)
	switch {
	case ended == nil:
		return 0, nil
	case !ok:
		return 0, ended
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// outcome checks the object of --json.
func outcome(ts *testscript.TestScript, neg bool, args []string) {
	object(ts, "outcome.schema.json", args)
}

// summary checks the object of --json for several targets.
func summary(ts *testscript.TestScript, neg bool, args []string) {
	object(ts, "summary.schema.json", args)
}

func object(ts *testscript.TestScript, schema string, args []string) {
	text := ts.ReadFile("stdout")
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("stdout is not one line")
	}
	ts.Check(valid(schema, text))
	var value any
	ts.Check(json.Unmarshal([]byte(text), &value))
	ts.Check(holds(value, args))
}

// targetResults checks the results of several targets.
func targetResults(ts *testscript.TestScript, neg bool, args []string) {
	lines(ts, "stdout", "target.schema.json", args)
}

// events checks the objects of --progress json.
func events(ts *testscript.TestScript, neg bool, args []string) {
	lines(ts, "stderr", "event.schema.json", args)
}

func lines(ts *testscript.TestScript, file, schema string, args []string) {
	list := []any{}
	for line := range strings.Lines(ts.ReadFile(file)) {
		ts.Check(valid(schema, line))
		var value any
		ts.Check(json.Unmarshal([]byte(line), &value))
		list = append(list, value)
	}
	ts.Check(holds(list, args))
}

// valid validates a text against a schema of the documentation.
func valid(schema, text string) error {
	file, err := os.ReadFile(filepath.Join("..", "..", "docs", schema))
	if err != nil {
		return err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(file, &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", schema, err)
	}
	return nil
}

// holds returns the first expression that is not true for a value.
func holds(value any, expressions []string) error {
	for _, source := range expressions {
		query, err := gojq.Parse(source)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if have, _ := query.Run(value).Next(); have != true {
			return fmt.Errorf("%s: have %v, want true", source, have)
		}
	}
	return nil
}

// changing matches the parts of the output that differ between runs. scrub replaces the parts.
var changing = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`(?m)^ +\d+\.\d+s  ([#-])`), "     X.Xs  $1"},
	{regexp.MustCompile(` (in|took) \d+(\.\d+)?(ms|s)`), " $1 X"},
	{regexp.MustCompile(`("[a-z_]+_s"): ?\d+(\.\d+)?`), "$1:X"},
	{regexp.MustCompile(`\bgo1\.\S+`), "goX"},
}

func scrub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: scrub FILE NEW")
	}
	text := ts.ReadFile(args[0])
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// clean checks that a text can be shown on a terminal and in a CI log.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clean FILE")
	}
	text := ts.ReadFile(args[0])
	if !utf8.ValidString(text) {
		ts.Fatalf("%q is not UTF-8", text)
	}
	control := func(r rune) bool {
		return r != '\n' && unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, control) {
			ts.Fatalf("a control character in %q", line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.HasPrefix(line, "##[") {
			ts.Fatalf("a workflow command in %q", line)
		}
	}
}

// patience is the time for a program to become ready. It is longer than any program needs, and shorter than
// the limit of the test.
const patience = 30 * time.Second

// gone waits for the end of the processes whose ids are in files, one per line. The processes are already
// killed, but may still be zombies without a new parent.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gone FILE...")
	}
	for _, file := range args {
		fields := strings.Fields(ts.ReadFile(file))
		if len(fields) == 0 {
			ts.Fatalf("no process in %s", file)
		}
		for _, field := range fields {
			pid, err := strconv.Atoi(field)
			ts.Check(err)
			for limit := time.Now().Add(patience); alive(pid); time.Sleep(time.Millisecond) {
				if time.Now().After(limit) {
					ts.Fatalf("process %d of %s is alive", pid, file)
				}
			}
		}
	}
}
