//go:build unix

package poll_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func shell(script string) poll.Command { return poll.Command{Args: []string{"sh", "-c", script}} }

// complete probes once, and wants the command to end by itself.
func complete(t *testing.T, p poll.Probe) status.Observation {
	t.Helper()
	obs := p.Check(t.Context(), poll.Attempt{Number: 1}).Observation
	if obs.Failure != nil {
		t.Fatalf("have failure %q, want none", obs.Failure.Reason)
	}
	if obs.Exit == nil {
		t.Fatal("have no exit code, want one")
	}
	return obs
}

func TestCommandEndedBySignal(t *testing.T) {
	t.Parallel()
	for name, number := range map[string]int{
		"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "SEGV": 11, "PIPE": 13, "TERM": 15,
	} {
		if signal.Ignored(syscall.Signal(number)) {
			continue // as in a shell's "go test &", and the child inherits that
		}
		obs := complete(t, shell("ulimit -c 0; kill -"+name+" $$"))
		if *obs.Exit != 128+number || obs.Signal != name || obs.Good() {
			t.Errorf("%s: have exit %d, signal %q", name, *obs.Exit, obs.Signal)
		}
	}
}

func TestCommandOutput(t *testing.T) {
	t.Parallel()
	c := shell("cat")
	var want []byte
	for i := range 256 {
		want = append(want, byte(i))
	}
	c.Stdin = want
	obs := complete(t, c)
	if !bytes.Equal(obs.Body, want) || obs.Size != 256 || obs.Truncated {
		t.Errorf("have %q, size %d, truncated %v", obs.Body, obs.Size, obs.Truncated)
	}

	obs = complete(t, shell("echo out; echo err >&2"))
	if string(obs.Body) != "out\n" || string(obs.Stderr) != "err\n" {
		t.Errorf("have stdout %q, stderr %q", obs.Body, obs.Stderr)
	}
	obs = complete(t, shell("exec >&- 2>&-; exit 7"))
	if *obs.Exit != 7 || len(obs.Body) != 0 {
		t.Errorf("outputs closed: have exit %d, stdout %q", *obs.Exit, obs.Body)
	}
}

func TestCommandStdin(t *testing.T) {
	t.Parallel()
	input := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // more than a pipe holds
	c := shell("echo $(wc -c)")
	if obs := complete(t, c); string(obs.Body) != "0\n" {
		t.Errorf("without input: have %q, want it empty", obs.Body)
	}
	c.Stdin = input
	again := c.Check(t.Context(), poll.Attempt{Number: 1}).Next
	for range 2 {
		if obs := complete(t, again); string(obs.Body) != "1048576\n" {
			t.Errorf("have %q, want 1048576", obs.Body)
		}
	}
	unread := shell("exit 0")
	unread.Stdin = input
	complete(t, unread)
	c.MaxBody = -1
	if err := c.Plan().Invalid; err == nil || !strings.Contains(err.Error(), "limit of the body is negative") {
		t.Errorf("have %v", err)
	}
}

// Not parallel: it counts the memory of the whole process.
func TestCommandFloodKeepsMemoryBounded(t *testing.T) {
	const size, limit = 64 << 20, 1 << 20
	c := shell("head -c " + strconv.Itoa(size) + " /dev/zero")
	c.MaxBody = limit
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	obs := complete(t, c)
	runtime.ReadMemStats(&after)
	if len(obs.Body) != limit || obs.Size != size {
		t.Errorf("have %d of %d bytes", len(obs.Body), obs.Size)
	}
	if have := after.TotalAlloc - before.TotalAlloc; have > 16*limit {
		t.Errorf("have %d bytes allocated, want at most %d", have, 16*limit)
	}
}

func TestCommandKeepsTheEndOfStderr(t *testing.T) {
	t.Parallel()
	var passed bytes.Buffer
	c := shell("seq 40000 >&2")
	c.Stderr = &passed
	again := c.Check(t.Context(), poll.Attempt{Number: 1}).Next
	for range 2 { // the second finds a used ring
		passed.Reset()
		obs := complete(t, again)
		if have := len(obs.Stderr); have != 64<<10 || !obs.StderrCut {
			t.Errorf("have %d bytes of stderr, cut: %v, want 65536, and true", have, obs.StderrCut)
		}
		if !bytes.HasPrefix(passed.Bytes(), []byte("1\n2\n3\n")) || !bytes.HasSuffix(passed.Bytes(), obs.Stderr) || !bytes.HasSuffix(obs.Stderr, []byte("\n40000\n")) {
			t.Errorf("have %d bytes passed on, want all lines, which end with what was kept", passed.Len())
		}
	}
	short := shell("printf 123 >&2")
	short.Stderr = failingWriter{}
	if obs := complete(t, short); string(obs.Stderr) != "123" || obs.StderrCut {
		t.Errorf("have %q, want 123 although it cannot be passed on", obs.Stderr)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestCommandThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("plain"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeProgram(t, in("orphan"), "#! /no/such/interpreter -x\n")
	writeProgram(t, in("windows"), "#!/bin/sh\r\n")
	writeProgram(t, in("noise"), "\x01\x02\x03\x04")
	for _, test := range []struct {
		name      string
		c         poll.Command
		atStart   bool // only the start can tell
		want      status.FailureKind
		wantWords string
	}{
		{name: "nothing", c: poll.Command{}, want: status.FailureNotFound, wantWords: "no command given"},
		{name: "not in PATH", c: poll.Command{Args: []string{"no-such-program", "secret"}}, want: status.FailureNotFound, wantWords: "no-such-program not found"},
		{name: "no such file", c: poll.Command{Args: []string{in("missing"), "secret"}}, want: status.FailureNotFound, wantWords: in("missing") + " not found"},
		{name: "below a file", c: poll.Command{Args: []string{in("plain/x"), "secret"}}, want: status.FailureNotFound, wantWords: in("plain/x") + " not found"},
		{name: "relative", c: poll.Command{Args: []string{"./missing", "secret"}, Dir: dir}, want: status.FailureNotFound, wantWords: "./missing not found"},
		{name: "more than a path", c: poll.Command{Args: []string{in("missing?key=k"), "secret"}}, want: status.FailureNotFound, wantWords: "missing?key=k not found"},
		{name: "directory", c: poll.Command{Args: []string{dir, "secret"}}, want: status.FailureNotExecutable, wantWords: "is a directory"},
		{name: "root directory", c: poll.Command{Args: []string{"/", "secret"}}, want: status.FailureNotExecutable, wantWords: "is a directory"},
		{name: "no exec bit", c: poll.Command{Args: []string{in("plain"), "secret"}}, want: status.FailureNotExecutable, wantWords: "plain cannot be executed: permission denied"},
		{name: "no directory", c: poll.Command{Args: []string{"sh", "secret"}, Dir: in("nowhere")}, want: status.FailureNotFound, wantWords: "sh cannot be run: the working directory"},
		{name: "no interpreter", c: poll.Command{Args: []string{in("orphan"), "secret"}}, atStart: true, want: status.FailureNotFound, wantWords: "its interpreter or loader does not"},
		{name: "carriage return", c: poll.Command{Args: []string{in("windows"), "secret"}}, atStart: true, want: status.FailureNotFound, wantWords: "its interpreter or loader does not"},
		{name: "what may pass", c: poll.Command{Args: []string{"sh", strings.Repeat("x", 4_000_000)}}, atStart: true, want: status.FailureTransient, wantWords: "sh could not be started: argument list too long"},
		{name: "format", c: poll.Command{Args: []string{in("noise"), "secret"}, Dir: dir}, atStart: true, want: status.FailureNotExecutable, wantWords: "noise cannot be executed: not a program"},
	} {
		check := test.c.Plan().Invalid
		if (check == nil) != test.atStart {
			t.Errorf("%s: Check: have %v", test.name, check)
		}
		first := test.c.Check(t.Context(), poll.Attempt{Number: 1}).Failure
		if first == nil || first.Kind != test.want || !strings.Contains(first.Reason, test.wantWords) {
			t.Errorf("%s: have %+v, want kind %v and %q", test.name, first, test.want, test.wantWords)
			continue
		}
		if failure, ok := errors.AsType[*status.Failure](check); ok && (failure.Kind != first.Kind || failure.Reason != first.Reason) {
			t.Errorf("%s: Check and Probe differ: %+v, %+v", test.name, failure, first)
		}
		if strings.Contains(first.Reason, "secret") || strings.Contains(first.Reason, dir) && !strings.HasPrefix(test.wantWords, dir) {
			t.Errorf("%s: have %q, want no argument, and a directory only where it says what was not found", test.name, first.Reason)
		}
		later := test.c.Check(t.Context(), poll.Attempt{Number: 2}).Failure
		if later == nil || later.Kind != status.FailureTransient || later.Reason != first.Reason {
			t.Errorf("%s: second attempt: have %+v, want the same to be transient", test.name, later)
		}
	}
}

// Not parallel: it changes PATH.
func TestCommandInPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Setenv("PATH", first+":"+second+":"+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(first, "odd-job"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := poll.Command{Args: []string{"odd-job"}}
	failure, _ := errors.AsType[*status.Failure](c.Plan().Invalid)
	if failure == nil || failure.Kind != status.FailureNotFound {
		t.Errorf("only a plain file: have %+v, want NotFound", failure)
	}
	writeProgram(t, filepath.Join(second, "odd-job"), "#!/bin/sh\necho second; echo $0\n")
	if obs := complete(t, c); !strings.HasPrefix(string(obs.Body), "second\n") {
		t.Errorf("have %q, want the one that can be executed", obs.Body)
	}

	t.Chdir(second)
	t.Setenv("PATH", ".:"+os.Getenv("PATH"))
	writeProgram(t, filepath.Join(second, "odd-job"), "#!/bin/sh\necho here\n")
	if obs := complete(t, poll.Command{Args: []string{"odd-job"}, Dir: first}); string(obs.Body) != "here\n" {
		t.Errorf("relative PATH: have %q, want here", obs.Body)
	}
}

// Not parallel: it counts the goroutines and descriptors of the whole process.
func TestCommandLeaksNothing(t *testing.T) {
	stopped := shell("sleep 3600 & trap '' TERM; sleep 3600")
	stopped.Grace = 5 * time.Millisecond
	held := shell("sleep 0.2 &")
	held.Grace = 5 * time.Millisecond
	unread := shell("exit 0")
	unread.Stdin = make([]byte, 1<<20)
	heldInput := shell("exec 3<&0; sleep 0.3 <&3 >/dev/null 2>&1 &")
	heldInput.Stdin = unread.Stdin
	probes := []poll.Probe{
		shell("echo x"), stopped, held, unread, heldInput,
		poll.Command{Args: []string{"no-such-program"}},
	}
	attempt := func(n int) {
		for i, p := range probes {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			probes[i] = p.Check(ctx, poll.Attempt{Number: n}).Next
			cancel()
		}
	}
	attempt(1)
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	for n := range 3 {
		attempt(n + 2)
	}
	// A goroutine ends, and closes its files, a moment after it has reported its end.
	for range 6000 {
		if runtime.NumGoroutine() <= goroutines && openDescriptors(t) <= descriptors {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("have %d goroutines, %d descriptors; want %d, %d",
		runtime.NumGoroutine(), openDescriptors(t), goroutines, descriptors)
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("no /dev/fd")
	}
	return len(entries) - 1 // that of the directory itself
}

// writeProgram writes an executable file. No child may be started meanwhile: it
// would hold the file open for a moment, and a file that is open for writing
// cannot be executed.
func writeProgram(t *testing.T, path, content string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil { // it may have been there
		t.Fatal(err)
	}
}

// The name of a command has its program and the next argument, but no argument that may be a secret.
func TestCommandTarget(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"":                      nil,
		"kubectl get":           {"/usr/bin/kubectl", "get", "pod", "web-0", "-o", "json"},
		"mysqladmin password":   {"mysqladmin", "password", "hunter2"},
		"ssh build.example.com": {"ssh", "build.example.com", "job"},
		"tool login":            {"tool", "login", "me:s3cret", "later"},
		"tool set":              {"tool", "set", "token=s3cret"},
		"tool as":               {"tool", "as", "me@host"},
		"tool":                  {"tool", "--token", "s3cret"},
		"sh":                    {"sh", "-c", "echo s3cret"},
		"echo":                  {"echo", "a b"},
		"vault":                 {"vault", "s.AbCdEfGhIjKlMnOpQrStUvWx"},
		"aws 123e4567-e89b-12d3-a456-426614174000": {"aws", "123e4567-e89b-12d3-a456-426614174000"},
		"a bbbbbbbbbbbbbbbbbbb":                    {"a", "bbbbbbbbbbbbbbbbbbb"},
		"b":                                        {"b", "bbbbbbbbbbbbbbbbbbbb", "c"},
		"a":                                        {"a", "", "c"},
	} {
		c := poll.Command{Args: args}
		if have := c.Target(); have != want {
			t.Errorf("%q: have %q, want %q", args, have, want)
		}
		place := c.Plan().Origin
		if have, _, _ := strings.Cut(want, " "); place != have {
			t.Errorf("%q: have the place %q, want %q", args, place, have)
		}
	}
	if long := (poll.Command{Args: []string{"a", strings.Repeat("word-", 50)}}).Target(); len(long) > 60 {
		t.Errorf("have a name of %d bytes", len(long))
	}
}

// shellStream returns a Command that runs a script, whose messages are evaluated.
func shellStream(text string) poll.Command {
	return poll.Command{Args: []string{"sh", "-c", text}, Stream: true}
}

// A count of SUCCESS is a count of lines in one run, and of documents in a row.
func TestStream_commandThreshold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		until        []string
		want         string
	}{
		{"others between them", "echo ok; echo no; echo no; echo ok; echo ok; sleep 3600", []string{`$stdout == "ok"`}, "succeeded after 4"},
		{"of either output", "echo ok; echo ok >&2; sleep 3600", []string{`$stdout == "ok"`, `$stderr == "ok"`}, "succeeded after 2"},
		{"too few", "echo ok; echo no", []string{`$stdout == "ok"`}, "attempts exhausted after 4"},
		{"a line for NOT_READY", "echo ok; echo stop; echo ok; echo no; echo ok; sleep 3600", []string{`$stdout == "ok"`, `?$stdout == "stop"`}, "succeeded after 5"},
		{"a line and the end of the command", "echo ok", []string{`$stdout == "ok"`, `$exit == 0`}, "attempts exhausted after 2"},
		{"documents", "echo '\"ok\"'; echo 1; echo '\"ok\"'; echo '\"ok\"'; sleep 3600", []string{`. == "ok"`}, "succeeded after 4"},
		{"a rule for documents, too", "echo ok; echo no; echo ok; echo ok; sleep 3600", []string{`$stdout == "ok"`, `.x == 1`}, "succeeded after 4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := poll.Poller{Probe: shellStream(test.script), Rules: conditions(t, test.until...), Immediate: true, MaxAttempts: 2,
				SuccessThreshold: poll.Threshold{Times: 2}, Schedule: backoff.Fixed(0), Timeout: time.Minute}
			o, _ := p.Run(t.Context())
			if have := fmt.Sprintf("%s after %d", o.Ending, o.State.Messages); have != test.want {
				t.Errorf("have %s: %s\nwant %s", have, o.Reason, test.want)
			}
		})
	}
}

// A threshold with a time does not end a stream whose lines are NOT_READY.
func TestStream_commandNotReady(t *testing.T) {
	t.Parallel()
	p := poll.Poller{Probe: shellStream("echo a; sleep .1; echo ready; sleep 3600"), Rules: conditions(t, `$stdout == "ready"`), Immediate: true,
		MaxAttempts: 1, ErrorThreshold: poll.Threshold{Times: 1, For: time.Hour}, Timeout: slack}
	if o, _ := p.Run(t.Context()); o.Ending != poll.Succeeded || o.State.Messages != 2 {
		t.Errorf("have %s after %d messages: %s", o.Ending, o.State.Messages, o.Reason)
	}
}

// Each wait for the lines of a command has an outcome, and ends without waiting for processes that are left
// running.
func TestStream_command(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script string
		until        []string
		want         string
	}{
		{"a line", "echo a; echo ready; sleep 3600", []string{`$stdout contains "ready"`}, `succeeded after 2: $stdout is "ready"`},
		{"of stderr as of either", "echo ready >&2; sleep 3600", []string{`$output == "ready"`}, `succeeded after 1: $output is "ready"`},
		{"of stdout as of either", "echo ready; sleep 3600", []string{`$output == "ready"`}, `succeeded after 1: $output is "ready"`},
		{"of stderr", "echo ready >&2; sleep 3600", []string{`$stderr == "ready"`}, `succeeded after 1: $stderr is "ready"`},
		{"in parts", "printf rea; sleep .1; echo dy; sleep 3600", []string{`$stdout contains "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"children stay", "sleep 3600 & (trap '' TERM; sleep 3600) & echo ready; wait", []string{`$stdout == "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"TERM is ignored", "trap '' TERM; echo ready; sleep 3600; sleep 3600", []string{`$stdout == "ready"`}, `succeeded after 1: $stdout is "ready"`},
		{"a document", "printf '{\\n  \"state\": \"pending\"\\n}\\n{\\n  \"state\": \"done\"\\n}\\n'; sleep 3600", []string{`.state == "done"`}, `succeeded after 2: .state is "done"`},
		{"the last line", "echo a; printf ready", []string{`$stdout == "ready"`}, `succeeded after 2: $stdout is "ready"`},
		{"the last line of stderr", "echo a; printf ready >&2", []string{`$stderr == "ready"`}, `succeeded after 2: $stderr is "ready"`},
		{"the exit code", "echo a; exit 3", []string{`$stdout == "ready"`, "!$exit != 0"}, `failed after 1: $exit is 3`},
		{"the exit code and the last line", "echo a; echo b", []string{`$exit == 0 and $stdout == "b"`}, `succeeded after 2: $exit is 0; $stdout is "b"`},
		{"lines do not decide by what comes later", "echo a", []string{`$stdout != "a"`, "!$exit == 0"}, `failed after 1: $exit is 0`},
		{"not found in it", "notthere", []string{`$stdout == "ready"`}, `failed after 1: exit code 127 (command not found): sh: 1: notthere: not found`},
		{"a long line", "printf %0200d 7; echo; echo ready", []string{`not ($stdout startswith "0") or $stdout endswith "7"`}, `succeeded after 2: $stdout is "ready"`},
		{"the last of many", "seq 1000", []string{`$stdout == "x"`}, `attempts exhausted after 1000: attempts made: 1 of 1; last: $stdout is "1000", want == "x"`},
		{"no line is lost", "seq 100000; sleep 3600", []string{`$stdout == "100000"`}, `succeeded after 100000: $stdout is "100000"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := shellStream(test.script)
			c.MaxBody = 100
			p := poll.Poller{Probe: c, Rules: conditions(t, test.until...), Immediate: true, MaxAttempts: 1, Timeout: slack}
			o, _ := p.Run(t.Context())
			if have := fmt.Sprintf("%s after %d: %s", o.Ending, o.State.Messages, o.Reason); have != test.want {
				t.Errorf("have %s\nwant %s", have, test.want)
			}
		})
	}
}

// An unfinished line of a killed program is not a message.
func TestStream_command_killed(t *testing.T) {
	t.Parallel()
	p := poll.Poller{Probe: shellStream("printf ready; kill -9 $$"), Rules: conditions(t, `$stdout == "ready"`), Immediate: true, MaxAttempts: 1}
	if o, _ := p.Run(t.Context()); o.Ending != poll.AttemptsExhausted || o.State.Messages != 0 {
		t.Errorf("%s: %s", o.Ending, o.Reason)
	}
}
