// Package newfile writes files that are whole or not there.
package newfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A newFile is written under another name, beside the one it gets in the end.
// So there is never a part of a file, and an older one stays until then.
type newFile struct {
	*os.File
	path string // "" for what is no regular file and is written in place
}

func createFile(path string) (*newFile, error) {
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

func (f *newFile) discard() {
	f.Close()
	if f.path != "" {
		os.Remove(f.Name())
	}
}

// commit gives the file its name. A file system may say as late as this that it
// is full.
func (f *newFile) commit() error {
	err := f.Close()
	if err == nil && f.path != "" {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil && f.path != "" {
		os.Remove(f.Name())
	}
	return cause(err)
}

// Check finds out whether Write could write a file.
func Check(path string) error {
	f, err := createFile(path)
	if err != nil {
		return err
	}
	f.discard()
	return nil
}

// Write gives a file what write has written, all of it or nothing.
func Write(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f, err := createFile(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		f.discard()
		return cause(err)
	}
	return f.commit()
}

// cause leaves out of an error the name of the file, which nobody has given it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
