//go:build unix

package store_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/store"
)

// A pipe must not be waited for.
func TestAPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	if _, err := store.OpenLog(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}
