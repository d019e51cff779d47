package fleet

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const (
	whereVariable = "FLEET_TEST_SHARE"
	fullVariable  = "FLEET_TEST_FULL"
	asksVariable  = "FLEET_TEST_ASKS"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(whereVariable); where != "" {
		os.Exit(takePart(where))
	}
	m.Run()
}

// takePart takes slots until stdin ends, and writes its notes. It writes a line once it has
// had one.
func takePart(where string) int {
	if os.Getenv(fullVariable) != "" {
		if err := limitFiles(); err != nil {
			return 3
		}
	}
	f, err := Open(where, Options{Note: func(note string) { fmt.Println("note:", note) }})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if os.Getenv(asksVariable) != "" {
		return keepAsking(f)
	}
	l := &Limiter{Fleet: f, PerSecond: 1e6, Known: true}
	for n := 0; ; n++ {
		if !l.Confirm(l.Reserve("place")) {
			return 1
		}
		if n == 100 {
			fmt.Println("ready")
		}
	}
}

// keepAsking asks for a thing again and again until stdin ends. It writes a line once it has
// the turn, and takes its time.
func keepAsking(f *Fleet) int {
	q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() {})
	for q.Claim(0, true).Ask {
		fmt.Println("ready")
		if os.Getenv(asksVariable) != "quick" {
			select {}
		}
		q.Answered(make([]byte, mostAnswer), time.Minute)
	}
	return 1
}

// another starts a process that takes part. It returns what it wrote until it was ready.
func another(t *testing.T, where string, env ...string) (cmd *exec.Cmd, wrote string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), whereVariable+"="+where), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	for buffer := make([]byte, 1000); !strings.HasSuffix(wrote, "ready\n"); {
		n, err := stdout.Read(buffer)
		wrote += string(buffer[:n])
		if err != nil {
			t.Fatalf("%v behind %q", err, wrote)
		}
	}
	return cmd, wrote
}

// Who is killed at any moment keeps nobody waiting, and leaves a record that is whole.
func TestDirectory_killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, notes := share(t, dir)
	for range 5 {
		cmd, wrote := another(t, dir)
		cmd.Process.Kill()
		if note := sends(t, f, notes, 2); note != "" || strings.Contains(wrote, "note:") {
			t.Errorf("told %q and %q", note, wrote)
		}
		if limits, err := f.List(t.Context()); err != nil || len(limits) != 1 {
			t.Errorf("%+v, %v", limits, err)
		}
	}
}

// Who is killed while it asks costs a lease.
func TestAnswers_killed(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, where string) {
		f, notes := share(t, where)
		q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() { t.Error("there is news") })
		cmd, _ := another(t, where, asksVariable+"=1")
		if turn := q.Claim(0, true); turn.Ask {
			t.Errorf("%+v", turn)
		}
		time.Sleep(lease / 2) // it is renewed meanwhile
		cmd.Process.Kill()
		killed := time.Now()
		turn := q.Claim(0, true)
		for holds := 0; !turn.Ask; holds++ {
			if turn.Until.IsZero() || holds > 10 {
				t.Fatalf("%d times, %+v", holds, turn)
			}
			time.Sleep(time.Until(turn.Until))
			turn = q.Claim(0, true)
		}
		t.Logf("after %s another asks", time.Since(killed))
		if turn.Alone || len(notes) > 0 {
			t.Errorf("%+v", turn)
		}
	})
}

// Who is killed while it writes leaves nothing that others could take for an answer.
func TestAnswers_killedWriting(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := t.TempDir()
		f, notes := share(t, dir)
		cmd, wrote := another(t, dir, asksVariable+"=quick")
		time.Sleep(20 * time.Millisecond)
		cmd.Process.Kill()
		q := (&Answers{Fleet: f}).Question([]byte("thing"), time.Now().Add(-time.Hour), func() {})
		turn := q.Claim(0, true)
		if turn.Answer != nil && len(turn.Answer) != mostAnswer || turn.Alone || strings.Contains(wrote, "note:") || len(notes) > 0 {
			t.Errorf("%d bytes, %v, %q", len(turn.Answer), turn.Alone, wrote)
		}
		q.Close()
	}
}
