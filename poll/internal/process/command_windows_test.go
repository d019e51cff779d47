package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/pollcli/poll/internal/connect"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// The commands of the tests are this test binary, told what to do by a variable.
const helperVariable = "POLL_TEST_HELPER"

func TestMain(m *testing.M) {
	if help := helpers()[os.Getenv(helperVariable)]; help != nil {
		os.Exit(help())
	}
	os.Exit(m.Run())
}

func helpers() map[string]func() int {
	return map[string]func() int{
		"answer": helpAnswer, "status": helpStatus, "args": helpArgs, "stay": helpStay, "tree": helpTree, "leave": helpLeave,
		"hold":  helpHold,
		"break": func() int { return helpPoll(typeCtrlBreak) },
		"stop":  func() int { return helpPoll(func(stop func()) { stop() }) },
		"poll":  func() int { return helpPoll(func(func()) {}) },
	}
}

// helper returns the command that does what, in a session without a limit of time.
func helper(what string, args ...string) Command {
	return Command{Args: append([]string{os.Args[0]}, args...), Env: append(os.Environ(), helperVariable+"="+what), Grace: time.Minute}
}

func helpAnswer() int {
	fmt.Println("answer")
	return 5
}

func helpStatus() int {
	windows.ExitProcess(uint32(windows.STATUS_CONTROL_C_EXIT))
	return 0
}

func helpArgs() int {
	json.NewEncoder(os.Stdout).Encode(os.Args[1:])
	return 0
}

// helpStay ignores what the console says, and stays for a minute.
func helpStay() int {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	time.Sleep(time.Minute)
	return 0
}

// startStay starts a process that stays, with out, and says on stderr who both are. If it is
// allowed to, the process leaves the job, as what a program of Git Bash starts.
func startStay(out io.Writer) {
	start := func(flags uint32) (*exec.Cmd, error) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), helperVariable+"=stay")
		c.Stdout = out
		c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags}
		return c, c.Start()
	}
	c, err := start(windows.CREATE_BREAKAWAY_FROM_JOB)
	if err != nil {
		c, err = start(0)
	}
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, os.Getpid(), c.Process.Pid)
}

// helpTree has a child that stays, and ends when it is asked to.
func helpTree() int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	startStay(nil)
	select {
	case <-asked:
	case <-time.After(time.Minute):
		return 1
	}
	fmt.Println("asked")
	return 0
}

// helpLeave leaves a child behind.
func helpLeave() int {
	startStay(nil)
	return 0
}

// helpHold leaves a child behind that holds its output.
func helpHold() int {
	fmt.Println("answer")
	startStay(os.Stdout)
	return 0
}

// helpPoll runs a tree as poll does, until Ctrl-C or Ctrl-Break. When the tree is there, it
// does what then says.
func helpPoll(then func(stop func())) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	c := helper("tree")
	c.Grace = 250 * time.Millisecond
	c.Stderr = writerFunc(func(p []byte) (int, error) {
		os.Stderr.Write(p)
		then(stop)
		return len(p), nil
	})
	obs := NewSession(c).Run(ctx, nil, 1)
	os.Stdout.Write(obs.Body)
	if obs.Failure == nil || obs.Failure.Kind != status.FailureStopped || len(obs.Hints) > 0 {
		fmt.Printf("%+v", obs)
	}
	return 0
}

// typeCtrlBreak does to the console what a key does. Wine knows only Ctrl-C.
func typeCtrlBreak(func()) {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, 0) != nil {
		if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0); err != nil {
			fmt.Println("Ctrl-C:", err)
		}
	}
}

func isWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// openAll opens the processes that a helper has named, and ends them after the test.
func openAll(t *testing.T, line string) (opened []windows.Handle) {
	t.Helper()
	for word := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("have %q, want process ids", line)
		}
		process, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_TERMINATE, false, uint32(pid))
		if err != nil {
			continue // it has ended
		}
		opened = append(opened, process)
		t.Cleanup(func() {
			windows.TerminateProcess(process, 1)
			windows.CloseHandle(process)
		})
	}
	return opened
}

// wantGone waits for the end of processes.
func wantGone(t *testing.T, processes []windows.Handle) {
	t.Helper()
	for _, process := range processes {
		if event, err := windows.WaitForSingleObject(process, 20_000); event != windows.WAIT_OBJECT_0 {
			t.Errorf("a process is left (%d, %v)", event, err)
		}
	}
}

// What a command has started is stopped with it.
func TestStopLeavesNobody(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"attempt timeout": meaning.ErrAttemptTimeout, "deadline": context.DeadlineExceeded} {
		for _, what := range []string{"tree", "hold"} {
			for _, foreground := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", what, " ", foreground), func(t *testing.T) {
					t.Parallel()
					c := helper(what)
					c.Foreground = foreground
					c.Grace = 250 * time.Millisecond
					if what == "hold" { // until the context is done
						c.Grace = time.Minute
					}
					var processes []windows.Handle
					ctx, cancel := context.WithCancelCause(t.Context())
					c.Stderr = writerFunc(func(p []byte) (int, error) {
						processes = openAll(t, string(p))
						cancel(why)
						return len(p), nil
					})
					if what == "hold" {
						// Ctrl-Break reaches it, and it stays even so.
						hurry := make(chan struct{})
						close(hurry)
						ctx = connect.WithCaller(ctx, connect.Caller{Hurry: hurry})
					}
					obs := NewSession(c).Run(ctx, nil, 1)
					if what == "tree" && (obs.Failure == nil || !errors.Is(obs.Failure.Err, why)) || len(obs.Hints) > 0 {
						t.Errorf("have %+v, want it stopped with %v", obs, why)
					}
					if len(processes) == 0 {
						t.Error("no process was seen")
					}
					wantGone(t, processes)
				})
			}
		}
	}
}

// Neither Ctrl-Break nor the end of poll by TerminateProcess leave somebody. The poll of the
// test has a console of its own, which is not the test's.
func TestEndLeavesNobody(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"break", "stop", "poll"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0])
			c.Env = helper(what).Env
			c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
			var out bytes.Buffer
			c.Stdout = &out
			stderr, err := c.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			kill := sync.OnceFunc(func() { c.Process.Kill() })
			defer kill()
			line, err := bufio.NewReader(stderr).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			processes := openAll(t, line)
			if what == "poll" {
				if len(processes) != 2 {
					t.Errorf("have %d processes, want 2", len(processes))
				}
				kill()
			}
			wantGone(t, processes) // before Wait, which may wait for them, too
			io.Copy(io.Discard, stderr)
			c.Wait()
			want := "asked\n"
			if what == "poll" || isWine() { // which tells nobody
				want = ""
			}
			if out.String() != want {
				t.Errorf("have %q, want %q", out.String(), want)
			}
		})
	}
}

// What a command that has ended by itself has left behind lives on.
func TestEndLeavesAlone(t *testing.T) {
	t.Parallel()
	c := helper("leave")
	var processes []windows.Handle
	c.Stderr = writerFunc(func(p []byte) (int, error) {
		processes = openAll(t, string(p))
		return len(p), nil
	})
	obs := NewSession(c).Run(t.Context(), nil, 1)
	if obs.Exit == nil || *obs.Exit != 0 || len(processes) == 0 {
		t.Fatalf("have %+v, want exit code 0", obs)
	}
	left := processes[len(processes)-1]
	if event, err := windows.WaitForSingleObject(left, 300); event != uint32(windows.WAIT_TIMEOUT) {
		t.Errorf("what was left behind has ended: %d, %v", event, err)
	}
}

// What the program wrote is read even if there is no grace.
func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	c := helper("answer")
	c.Grace = -1
	wantComplete(t, c, 10)
}

func TestExitCodeOf32Bits(t *testing.T) {
	t.Parallel()
	obs := NewSession(helper("status")).Run(t.Context(), nil, 1)
	if obs.Exit == nil || *obs.Exit != 0xC000013A {
		t.Errorf("have %+v, want 0xC000013A", obs)
	}
}

// The script after cmd /c is not changed.
func TestCmd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"cmd", "/c", "echo", `{"state":"done"}`}, `{"state":"done"}`},
		{[]string{"CMD.exe", "/d", "/C", `echo {"state": "done"}`}, `{"state": "done"}`},
		{[]string{os.Getenv("COMSPEC"), "/c", "echo a&echo b"}, "a\r\nb"},
		{[]string{"cmd", "/c", "echo", "a b", "&&", "echo", "c&d"}, `"a b"` + " \r\n" + `"c&d"`},
	} {
		obs := NewSession(Command{Args: test.args}).Run(t.Context(), nil, 1)
		if have := strings.TrimSpace(string(obs.Body)); have != test.want {
			t.Errorf("%q: have %q, stderr %q, failure %v, want %q", test.args, have, obs.Stderr, obs.Failure, test.want)
		}
	}
}

// A batch file gets its arguments, and hands them on, and none of them is run.
func TestBatchFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a dir (1) & more")
	writeBatch(t, dir, "deploy.cmd", `@"`+os.Args[0]+`" %*`)
	args := []string{"plain", "", "a b", `a\`, `a b\`, "x&echo y", "|", ">x", "^", "(", "!a!", "a,b;c=d", "é"}
	if !isWine() { // whose cmd.exe does not know the empty part of a variable
		args = append(args, "%PATH%", "100%", "%", "%cd:~,%&echo v")
	}
	for _, name := range []string{"deploy.cmd", "deploy", "DEPLOY.CMD", "deploy.cmd. "} {
		c := helper("args", args...)
		c.Args[0] = filepath.Join(dir, "x") // Join would take the dots away
		c.Args[0] = c.Args[0][:len(c.Args[0])-1] + name
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		obs := NewSession(c).Run(t.Context(), nil, 1)
		var have []string
		if err := json.Unmarshal(obs.Body, &have); err != nil || !slices.Equal(have, args) {
			t.Errorf("%s: have %s, stderr %s, failure %v, want %q", name, obs.Body, obs.Stderr, obs.Failure, args)
		}
	}

	c := Command{Args: []string{filepath.Join(dir, "deploy"), `secret"&calc`}}
	err := c.Check()
	if want := "deploy: an argument holds a quote or a line break, which is not safe for a batch file"; err == nil || err.Error() != want {
		t.Errorf("have %v, want %s", err, want)
	}
	obs := NewSession(c).Run(t.Context(), nil, 1)
	if obs.Failure == nil || obs.Failure.Kind != status.FailureHopeless || obs.Failure.Reason != err.Error() {
		t.Errorf("have %+v, want the same", obs)
	}
}

func writeBatch(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLookup(t *testing.T) {
	here, elsewhere := t.TempDir(), t.TempDir()
	writeBatch(t, here, "a.bat", "@echo here")
	writeBatch(t, here, "script.vbs", "M")
	writeBatch(t, here, "main.exe", "MZ")
	writeBatch(t, elsewhere, "b.cmd", "@echo %0")
	t.Chdir(here)
	t.Setenv("PATH", elsewhere)
	t.Setenv("PATHEXT", ".EXE;.CMD;.BAT")
	for name, want := range map[string]string{
		"b":            filepath.Join(elsewhere, "b.cmd"),
		"B.cmd":        filepath.Join(elsewhere, "B.cmd"),
		"b.bat":        "b.bat not found",
		"a":            `a cannot be run: the one in the current directory is .\a, and one in PATH then needs its whole path`,
		"a.bat":        `a.bat cannot be run: the one in the current directory is .\a.bat, and one in PATH then needs its whole path`,
		`.\a`:          filepath.Join(here, "a.bat"),
		`./a.bat`:      filepath.Join(here, "a.bat"),
		`.\none`:       `.\none not found`,
		here:           filepath.Base(here) + " cannot be executed: is a directory",
		`.\script.vbs`: filepath.Join(here, "script.vbs"), // its start shows that it cannot
		`.\main.exe`:   filepath.Join(here, "main.exe"),
	} {
		have, failure := Command{Args: []string{name}}.find()
		if failure != nil {
			have = failure.Reason
		}
		if !strings.EqualFold(have, want) {
			t.Errorf("%s: have %s, want %s", name, have, want)
		}
	}
	_, missing := Command{Args: []string{"a"}}.find()
	if missing == nil || !errors.Is(missing.Err, exec.ErrDot) {
		t.Errorf("have %+v, want what finds out that it is in the current directory", missing)
	}
	obs := NewSession(Command{Args: []string{`.\script.vbs`}}).Run(t.Context(), nil, 1)
	if obs.Failure == nil || obs.Failure.Kind != status.FailureNotExecutable {
		t.Errorf("have %+v, want it not executable", obs)
	}
}

func TestForbidden(t *testing.T) {
	c := Command{Args: []string{"setup"}}
	for _, errno := range []syscall.Errno{216, 225, 740, 1260} {
		f := c.notRun("setup.exe", &os.PathError{Op: "fork/exec", Path: "secret", Err: errno})
		if f.Kind != status.FailureNotExecutable || f.Reason != "setup cannot be executed: "+errno.Error() {
			t.Errorf("%d: %v, %s", errno, f.Kind, f.Reason)
		}
	}
	if f := c.notRun("setup.exe", syscall.Errno(1455)); f.Kind != status.FailureTransient { // not enough memory
		t.Errorf("%v, %s", f.Kind, f.Reason)
	}
}
