package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockSuffix = ".lock"
	nap        = time.Millisecond // between two attempts to get a lock, which is held for less
)

// A directory keeps each record in a file, for the processes of one user on one machine. A look and
// its change have one lock, which is that of another file, which some of the records share and which
// stays.
//
// A record is the first line of its file, which is written in place: to replace a file takes thirty
// times as long. Nothing is synced: if a process or the machine dies meanwhile, the old record is
// left, or the new one, or no JSON, which counts as no record. A process then asks once more.
type directory string

// openDirectory returns a directory, from which it removes old records. A lock stays: another
// process may hold it.
func openDirectory(path string) (directory, error) {
	d := directory(path)
	if err := d.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(path, prefix+"*[0-9a-f]"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && time.Since(info.ModTime()) > life {
			os.Remove(file)
		}
	}
	return d, nil
}

// check refuses a path that is no directory, or one that others may put files into.
func (d directory) check() error {
	info, err := os.Stat(string(d))
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", d)
	case !isOwn(info):
		return fmt.Errorf("other users may write to %s: it needs a directory of your own (chown, chmod go-w)", d)
	}
	return nil
}

func (d directory) change(bound time.Duration, key string, step func(text string, at int64) string) error {
	unlock, err := d.lock(bound, key)
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(string(d), key)
	if err := yield(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := io.ReadAll(f)
	old, _, _ := strings.Cut(string(all), "\n")
	next := step(old, time.Now().UnixMicro())
	if err != nil || next == old {
		return err
	}
	if _, err = f.WriteAt([]byte(next+"\n"), 0); err != nil {
		f.Truncate(0) // the disk is full, and the record torn
	}
	return err
}

// lock takes the lock of a record, and makes the directory if it is not there.
func (d directory) lock(bound time.Duration, key string) (unlock func() error, err error) {
	if err = d.check(); errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(string(d), 0o700)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	path := filepath.Join(string(d), prefix+key[len(key)-2:]+lockSuffix)
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err = l.TryLockContext(ctx, nap)
	return l.Close, err
}

// yield moves anything at a path aside that is no file.
func yield(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return os.Rename(path, fmt.Sprint(path, ".", time.Now().UnixNano()))
	}
	return nil
}

func (directory) close() {}
