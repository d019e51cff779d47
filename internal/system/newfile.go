package system

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// WriteFile replaces the content of the file at path with text, completely or not at all. It creates a missing
// file. A file that is not regular, such as a pipe, is written in place. The error does not name path.
func WriteFile(path string, text []byte) error { return cause(replace(path, text, false)) }

// CheckFile returns nil if WriteFile could write the file at path, and otherwise an error that names path. It
// does not change the file. It does not open a pipe or a device.
func CheckFile(path string) error {
	if err := cause(replace(path, nil, true)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// replace writes text to a temporary file in the same directory and renames that file to path. A reader never
// sees a partial file, and an older file stays until the end. A file that is not regular is written in place. If
// try is true, replace only creates and removes the temporary file.
func replace(path string, text []byte, try bool) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		if try && !info.IsDir() {
			return nil // opening a pipe and closing it would end its reader
		}
		return write(path, os.O_WRONLY, 0, text)
	}
	mode := fs.FileMode(0o666) // minus the umask
	if err == nil {
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	dir, name := filepath.Split(path)
	temporary := filepath.Join(dir, fmt.Sprintf(".%s.%016x", name, rand.Uint64()))
	err = write(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, text)
	if err == nil && !try {
		err = rename(temporary, path)
	}
	if err != nil || try {
		os.Remove(temporary)
	}
	return err
}

// write opens the file with flags and mode, and writes text. It returns the error of closing the file, too: some
// file systems report only then that the disk is full.
func write(path string, flags int, mode fs.FileMode, text []byte) error {
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return err
	}
	if len(text) > 0 { // a device may reject even an empty write
		_, err = f.Write(text)
	}
	f.Sync() // after a crash of the machine there is the old file or the new file; the error of a device does not matter
	return cmp.Or(err, f.Close())
}

// rename renames the file from to the path to, and replaces a file there. On Windows, os.Rename fails while
// another process has either file open, as a virus scanner does for moments. There, rename tries again for about
// a second.
func rename(from, to string) error {
	const longestPause = 512 * time.Millisecond
	for pause := time.Millisecond; ; pause *= 2 {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || pause > longestPause {
			return err
		}
		time.Sleep(pause)
	}
}

// cause returns err without its path, which may be the path of the temporary file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
