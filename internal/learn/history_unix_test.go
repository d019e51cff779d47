//go:build unix

package learn_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/learn"
)

// fullVariable is an environment variable. It names the directory for a process that can write at most 1000
// bytes to a file.
const fullVariable = "HISTORY_TEST_FULL"

// TestMain runs the tests or, if fullVariable is set, adds runs to a history until the file is full.
func TestMain(m *testing.M) {
	dir := os.Getenv(fullVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGXFSZ)
	err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000})
	for number := 0; err == nil; number++ {
		if err = (learn.History{Dir: dir}).Append(context.Background(), "x", run(number)); err == nil {
			fmt.Println(number)
		}
	}
}

// A full disk takes half of a line. Append then removes that half.
func TestFullPlace(t *testing.T) {
	s := learn.History{Dir: t.TempDir()}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullVariable+"="+s.Dir)
	wrote, err := cmd.Output()
	added := strings.Count(string(wrote), "\n")
	if err != nil || added == 0 || added > 20 {
		t.Fatalf("%v: %d runs were added to 1000 bytes", err, added)
	}
	appendRuns(t, s, "x", run(added))
	if have := numbers(read(t, s, "x")); len(have) != added+1 || have[added] != added {
		t.Errorf("runs %v, want 0 to %d", have, added)
	}
	if info, err := os.Stat(s.Dir + "/x.jsonl"); err != nil || info.Size() > 1200 {
		t.Errorf("file: %v, %v", info, err)
	}
}
