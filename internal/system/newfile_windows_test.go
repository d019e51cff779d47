package system

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// WriteFile waits until the process that reads the file has closed it.
func TestWriteFile_read(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "answer.json")
	if err := WriteFile(path, []byte("older")); err != nil {
		t.Fatal(err)
	}
	scanner, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { scanner.Close() })
	if err := WriteFile(path, []byte("newer")); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, map[string]string{"answer.json": "newer"})
}
