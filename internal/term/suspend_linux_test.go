package term

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const suspendHelper = "POLL_TEST_SUSPEND"

// TestSuspendHelper is the process that is suspended: it says what happens to it.
func TestSuspendHelper(t *testing.T) {
	if os.Getenv(suspendHelper) == "" {
		t.Skip("only for TestOnSuspend")
	}
	done := make(chan bool, 1)
	n := 0
	release := onSuspend(func(stop func()) {
		n++
		fmt.Println("before", n)
		stop()
		fmt.Println("after", n)
		done <- n == 2
	})
	fmt.Println("ready")
	for !<-done {
	}
	release()
}

// A process that is asked to stop does something first, stops, goes on, and can be asked
// again. Its group has a parent outside, as that of a shell's job.
func TestOnSuspend(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuspendHelper$")
	cmd.Env = append(os.Environ(), suspendHelper+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() }
	t.Cleanup(kill)
	limit := time.AfterFunc(20*time.Second, kill)
	defer limit.Stop()
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("have %q, want %q", lines.Text(), want)
		}
	}
	expect("ready")
	for n := 1; n <= 2; n++ {
		if err := cmd.Process.Signal(unix.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		expect(fmt.Sprint("before ", n))
		var status unix.WaitStatus
		if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("not stopped: %v, %v", status, err)
		}
		if err := cmd.Process.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		expect(fmt.Sprint("after ", n))
	}
	_ = cmd.Wait()
}
