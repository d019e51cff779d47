//go:build unix

package fleet

import (
	"strings"
	"syscall"
	"testing"
)

// stop has the server stand still until the function that it returns is called.
func (s *server) stop(t testing.TB) (goOn func()) {
	t.Helper()
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() { s.process.Signal(syscall.SIGCONT) }
}

// A server that stands still keeps a call waiting for no longer than the bound, and each
// goes on at its pace until the server does.
func TestRedis_paused(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	f, notes := share(t, s.url)
	if note := sends(t, f, notes, 20); note != "" {
		t.Fatal(note)
	}
	goOn := s.stop(t)
	defer goOn()
	if note := sends(t, f, notes, 1); !strings.HasSuffix(note, "it does not answer in time") {
		t.Errorf("told %q", note)
	}
	goOn()
	awaitUp(t, f)
}
