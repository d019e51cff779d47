package system

import (
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
func WriteFile(path string, text []byte) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return f.end(err)
}

// CheckFile returns a path if WriteFile could write the file, and otherwise an error that names it.
func CheckFile(path string) (string, error) {
	f, err := create(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	f.end(errOnlyChecked)
	return path, nil
}

var errOnlyChecked = errors.New("only checked")

// A newFile is written under a temporary name beside the final one, so that a
// partial file is never seen, and an older one stays until the end.
type newFile struct {
	*os.File
	path string // "" if it is not a regular file and is written in place
}

func create(path string) (*newFile, error) {
	mode := fs.FileMode(0o666) // minus the umask
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &newFile{File: f}, cause(err)
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, cause(err)
		}
	}
	dir, name := filepath.Split(path)
	temporary := filepath.Join(dir, fmt.Sprintf(".%s.%016x", name, rand.Uint64()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return &newFile{f, path}, cause(err)
}

// end gives the file its name, unless something has failed. A file system may
// report only here that it is full.
func (f *newFile) end(err error) error {
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && f.path != "" {
		err = rename(f.Name(), f.path)
	}
	if err != nil && f.path != "" {
		os.Remove(f.Name())
	}
	return cause(err)
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
