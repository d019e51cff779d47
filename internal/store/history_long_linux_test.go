package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/store"
)

// A run that is in the file is remembered, though the file cannot be shortened:
// here since no longer path than its own is possible.
func TestLongFileThatCannotBeRewritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const longestDir = 4095 - len("/x.jsonl")
	for len(dir) < longestDir-255 {
		dir = filepath.Join(dir, strings.Repeat("d", min(200, longestDir-len(dir)-10)))
	}
	dir = filepath.Join(dir, strings.Repeat("d", longestDir-len(dir)-1))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.jsonl")
	if err := os.WriteFile(path, bytes.Repeat([]byte("foreign\n"), 400), 0o600); err != nil {
		t.Fatal(err)
	}
	appendRuns(t, store.History{Dir: dir}, "x", run(7))
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("foreign\n")) != 400 || !bytes.HasSuffix(text, []byte("\"success\"}\n")) {
		t.Errorf("%d bytes, %v: want all there was, and the run", len(text), err)
	}
}
