package history

import (
	"fmt"
	"io/fs"
	"os"
)

// openRegular opens a regular file. Where others may write in the directory it
// may be anything by now.
func openRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|careful, 0o600)
	if err != nil {
		if info, lstat := os.Lstat(path); lstat == nil && info.Mode().Type() == fs.ModeSymlink {
			err = fmt.Errorf("%s is a symbolic link, not a regular file", path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
