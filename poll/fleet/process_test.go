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
)

func TestMain(m *testing.M) {
	if where := os.Getenv(whereVariable); where != "" {
		os.Exit(takePart(where))
	}
	m.Run()
}

// takePart takes slots until stdin ends, and writes its notes. It writes a line after the first hundred.
func takePart(where string) int {
	if os.Getenv(fullVariable) != "" {
		if err := limitFiles(); err != nil {
			return 3
		}
	}
	f, err := Open(where, Options{PerSecond: 1e6, Known: true, Note: func(note string) { fmt.Println("note:", note) }})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	f.opened = time.Now().Add(time.Hour) // a call may take as long on a busy machine
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
		f.Next("place", time.Time{})
		if n == 100 {
			fmt.Println("ready")
		}
	}
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
