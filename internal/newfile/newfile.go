// Package newfile writes files that are whole or not there.
package newfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write gives a file a text, all of it or nothing.
func Write(path string, text []byte) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return f.end(err)
}

// Check finds out whether Write could write a file.
func Check(path string) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	f.end(errOnlyChecked)
	return nil
}

var errOnlyChecked = errors.New("only checked")

// A newFile is written under another name, beside the one it gets in the end.
// So there is never a part of a file, and an older one stays until then.
type newFile struct {
	*os.File
	path string // "" for what is no regular file and is written in place
}

func create(path string) (*newFile, error) {
	mode := fs.FileMode(0o666) // the umask takes its part of it
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

// end gives the file its name, unless something has failed. A file system may say
// as late as this that it is full.
func (f *newFile) end(err error) error {
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && f.path != "" {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil && f.path != "" {
		os.Remove(f.Name())
	}
	return cause(err)
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
