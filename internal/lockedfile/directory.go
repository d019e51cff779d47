package lockedfile

import (
	"fmt"
	"os"
)

// MakeDirectory makes a directory that its user alone may write to, with its parents. What is
// at path already is checked as by CheckDirectory.
func MakeDirectory(path string) error {
	if err := makeDirectory(path); err != nil {
		return err
	}
	return CheckDirectory(path)
}

// CheckDirectory refuses what is no directory, the directory of another user, and one that
// others may put files into.
func CheckDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	own, shared, err := access(path, info)
	switch {
	case err != nil:
		return fmt.Errorf("look up who may write to %s: %w", path, err)
	case !own:
		return fmt.Errorf("%s belongs to another user", path)
	case shared:
		return fmt.Errorf("other users may write to %s: it needs a directory of your own (%s)", path, makeOwn)
	}
	return nil
}
