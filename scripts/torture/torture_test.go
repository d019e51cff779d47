//go:build torture && linux

// Package torture maltreats the built program in ways that smaller tests cannot: it is stopped,
// and its clock jumps.
//
//	go test -tags torture ./scripts/torture
package torture

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(testAll(m)) }

func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "torture")
	if err == nil {
		defer os.RemoveAll(dir)
		os.Setenv("TORTURE_POLL", filepath.Join(dir, "poll"))
		err = build(os.Getenv("TORTURE_POLL"))
	}
	if err != nil {
		panic(err)
	}
	return m.Run()
}

func build(to string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", to, ".")...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// A wait is one run of the program.
type wait struct {
	*exec.Cmd
	began  time.Time
	stderr bytes.Buffer
	hung   *time.Timer
}

func start(t *testing.T, args ...string) *wait {
	t.Helper()
	w := &wait{Cmd: exec.Command(os.Getenv("TORTURE_POLL"), args...), began: time.Now()}
	w.Stderr = &w.stderr
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.hung = time.AfterFunc(time.Minute, func() { w.Process.Kill() })
	return w
}

// end waits for the end, with this exit code. It returns how long the wait took.
func (w *wait) end(t *testing.T, code int) time.Duration {
	t.Helper()
	w.Wait()
	if have := w.ProcessState.ExitCode(); have != code || !w.hung.Stop() {
		t.Errorf("exit code %d, want %d within a minute: %.1000s", have, code, &w.stderr)
	}
	return time.Since(w.began)
}

func words(flags string) []string { return strings.Fields(flags) }
