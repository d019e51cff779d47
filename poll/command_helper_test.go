//go:build unix

package poll_test

import (
	"bufio"

	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"

	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/poll"
)

// The commands of the tests are this test binary, told what to do by its first
// argument. TestHelperProcess is where it is told.
const helperVariable = "POLL_TEST_HELPER"

// helper returns the command that does what.
func helper(what ...string) poll.Command {
	return poll.Command{
		Args: append([]string{os.Args[0], "-test.run=^TestHelperProcess$", "--"}, what...),
		Env:  append(os.Environ(), helperVariable+"=1"),
	}
}

func TestHelperProcess(t *testing.T) {
	if os.Getenv(helperVariable) == "" {
		t.Skip("only for the other tests")
	}
	args := os.Args
	for args[0] != "--" {
		args = args[1:]
	}
	what, args := args[1], args[2:]
	os.Exit(helperModes()[what](args))
}

func helperModes() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"bytes":  helpBytes,
		"flood":  helpFlood,
		"count":  helpCount,
		"ignore": helpIgnore,
		"daemon": helpDaemon,
	}
}

// helpBytes writes every byte there is, without a newline at the end.
func helpBytes([]string) int {
	for i := range 256 {
		os.Stdout.Write([]byte{byte(i)})
	}
	return 0
}

// helpFlood writes args[1] bytes to the descriptor args[0]: the numbers 00000000,
// 00000001, and so on.
func helpFlood(args []string) int {
	fd, _ := strconv.Atoi(args[0])
	size, _ := strconv.Atoi(args[1])
	w := bufio.NewWriterSize(os.NewFile(uintptr(fd), "out"), 1<<20)
	for i := range size / 8 {
		fmt.Fprintf(w, "%08d", i)
	}
	w.Flush()
	return 0
}

// helpCount says how much there is to read.
func helpCount([]string) int {
	n, err := io.Copy(io.Discard, os.Stdin)
	fmt.Print(n, err)
	return 0
}

// helpIgnore ignores SIGTERM. It says so, with its process id, and stays for a
// minute. With "quiet" it says so on stderr, and gives its outputs up.
func helpIgnore(args []string) int {
	signal.Ignore(syscall.SIGTERM)
	fmt.Printf("%d\n", os.Getpid())
	if len(args) > 0 {
		fmt.Fprintln(os.Stderr)
		null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		unix.Dup2(int(null.Fd()), 1)
		unix.Dup2(int(null.Fd()), 2)
	}
	time.Sleep(time.Minute)
	return 0
}

// helpDaemon starts "sleep 60" in a session of its own and prints its process
// id.
func helpDaemon([]string) int {
	daemon := exec.Command("sleep", "60")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		return 1
	}
	fmt.Println(daemon.Process.Pid)
	return 0
}
