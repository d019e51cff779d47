package learn_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/pollcli/poll/internal/learn"
)

// TestMain makes the test binary a writer of runs if it is started as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HISTORY_TEST_DIR"); dir != "" {
		if size := os.Getenv("HISTORY_TEST_LIMIT"); size != "" {
			if err := limitFiles(size); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
		}
		os.Exit(writer(dir, os.Getenv("HISTORY_TEST_FROM"), os.Getenv("HISTORY_TEST_TO")))
	}
	os.Exit(m.Run())
}

// writer adds runs with the numbers from..to-1 and says each when it is added.
func writer(dir, from, to string) int {
	number, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)
	for ; number < last; number++ {
		if err := (learn.History{Dir: dir}).Append(context.Background(), "x", run(number)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(number)
	}
	return 0
}

func startWriter(t *testing.T, dir string, from, to int, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(slices.Concat(os.Environ(), env), "HISTORY_TEST_DIR="+dir,
		"HISTORY_TEST_FROM="+strconv.Itoa(from), "HISTORY_TEST_TO="+strconv.Itoa(to))
	if len(env) == 0 { // else it is to fail
		cmd.Stderr = os.Stderr
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(stdout)
}

func TestTwentyProcesses(t *testing.T) {
	t.Parallel()
	const processes, each = 20, 5
	s := learn.History{Dir: t.TempDir()}
	// The file is rewritten while they write.
	for i := range 350 {
		appendRuns(t, s, "x", run(100_000+i))
	}
	var started []*exec.Cmd
	for p := range processes {
		cmd, stdout := startWriter(t, s.Dir, p*each, (p+1)*each)
		started = append(started, cmd)
		go func() {
			for stdout.Scan() {
			}
		}()
	}
	for _, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	have := numbers(read(t, s, "x"))
	slices.Sort(have)
	for number := range processes * each {
		if _, ok := slices.BinarySearch(have, number); !ok {
			t.Errorf("run %d is lost", number)
		}
	}
	if len(have) > 300 {
		t.Errorf("%d runs: the file was not rewritten", len(have))
	}
}
