package lockedfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMakeDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // what is there stays
		if err := MakeDirectory(dir + string(filepath.Separator)); err != nil {
			t.Fatal(err)
		}
		if err := CheckDirectory(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("have %v and %v, want the file", entries, err)
	}
	file := filepath.Join(dir, "file")
	if err := CheckDirectory(file); err == nil || err.Error() != file+" is not a directory" {
		t.Errorf("a file: %v", err)
	}
	if err := MakeDirectory(filepath.Join(file, "c")); err == nil {
		t.Error("a directory is made below a file")
	}
}
