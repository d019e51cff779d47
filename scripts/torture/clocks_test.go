//go:build torture && linux

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// After five times its wait without a processor, poll continues as after one long wait.
func TestClocks_stopped(t *testing.T) {
	w := start(t, words("--interval 200ms --timeout 30s --until $attempt==7 -- echo done")...)
	time.Sleep(500 * time.Millisecond)
	w.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	w.Process.Signal(syscall.SIGCONT)
	if took := w.end(t, 0); took < 2*time.Second {
		t.Errorf("7 attempts in %s: it caught up", took)
	}
}

// A clock that steps forward and back by an hour, ten times a second, changes no wait. The
// machine's clock stays as it is: the program is built with another time.Now.
func TestClocks_stepped(t *testing.T) {
	stepping := filepath.Join(t.TempDir(), "poll")
	if err := build(stepping, "-overlay", steppingClock(t)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TORTURE_POLL", stepping)
	start(t, words("--interval 20ms --timeout 10s --until $attempt==20 -- echo done")...).end(t, 0)
	took := start(t, words("--interval 20ms --timeout 1s -- false")...).end(t, 124)
	if took < 700*time.Millisecond || took > time.Minute {
		t.Errorf("a timeout of 1s came after %s", took)
	}
}

// steppingClock changes time.Now, and returns the overlay for go build.
func steppingClock(t *testing.T) (overlay string) {
	t.Helper()
	library, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(library)), "src", "time", "time.go")
	source, _ := os.ReadFile(original)
	const read = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(source), read) {
		t.Skip("time.Now is not as expected in this Go")
	}
	changed := strings.Replace(string(source), read, read+"\tsec += mono / 100_000_000 % 3 * 3600 - 3600\n", 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "time.go")
	overlay = filepath.Join(dir, "overlay.json")
	for name, text := range map[string]string{path: changed, overlay: fmt.Sprintf(`{"Replace":{%q:%q}}`, original, path)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
