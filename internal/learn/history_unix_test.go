//go:build unix

package learn_test

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/learn"
)

// limitFiles makes a write beyond size bytes of a file fail, half done, as it
// does on a full disk.
func limitFiles(size string) error {
	bytes, err := strconv.ParseUint(size, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

func TestFullPlace(t *testing.T) {
	t.Parallel()
	s := learn.History{Dir: t.TempDir()}
	cmd, stdout := startWriter(t, s.Dir, 0, 100, fmt.Sprintf("HISTORY_TEST_LIMIT=%d", 1000))
	var added []int
	for stdout.Scan() {
		number, err := strconv.Atoi(stdout.Text())
		if err != nil {
			t.Fatal(err)
		}
		added = append(added, number)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the writer did not notice that the place is full")
	}
	if len(added) == 0 || len(added) > 20 {
		t.Errorf("%d runs were added to 1000 bytes", len(added))
	}
	appendRuns(t, s, "x", run(100))
	if have := numbers(read(t, s, "x")); !slices.Equal(have, append(added, 100)) {
		t.Errorf("runs %v, want %v and 100, and no torn line", have, added)
	}
	if info, err := os.Stat(s.Dir + "/x.jsonl"); err != nil || info.Size() > 1200 {
		t.Errorf("file: %v, %v", info, err)
	}
}
