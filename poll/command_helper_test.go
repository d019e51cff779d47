//go:build unix

package poll_test

import (
	"bufio"

	"fmt"
	"io"
	"os"

	"strconv"

	"testing"

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
		"bytes": helpBytes,
		"flood": helpFlood,
		"count": helpCount,
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
