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

// WriteFile replaces the content of a file, completely or not at all.
func WriteFile(path string, text []byte) error { return cause(replace(path, text, false)) }

// CheckFile returns nil if WriteFile could write the file, and otherwise an error that names the file.
func CheckFile(path string) error {
	if err := cause(replace(path, nil, true)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// replace writes a file under a temporary name beside the final one, so that a partial file is
// never seen, and an older one stays until the end. A file that is not regular is written in place.
// If try is true, nothing changes.
func replace(path string, text []byte, try bool) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		if try && !info.IsDir() {
			return nil // who reads from a pipe would see its end
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

// write opens and writes a file. A file system may report only at the end that it is full.
func write(path string, flags int, mode fs.FileMode, text []byte) error {
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return err
	}
	if len(text) > 0 { // a device may refuse even nothing
		_, err = f.Write(text)
	}
	f.Sync() // a crash of the machine leaves the old file or the new one; a device has nothing to sync
	return cmp.Or(err, f.Close())
}

// rename replaces the file at a path. On Windows that fails while anybody reads one of the two,
// as a virus scanner does for moments.
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

// cause removes the name of the file from an error: it may be the temporary one.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
