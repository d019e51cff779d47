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
	lockPoll   = time.Millisecond // between two attempts to get a lock, which is held for less
)

// A directory keeps each record in a file, for the processes of one user on one machine. A process holds a
// lock while it changes a record. The lock is a separate file, which several records share and which is never
// removed.
//
// A record is the first line of its file. The file is written in place, since it takes thirty times as long to
// replace it. Nothing is synced: if the process or the machine dies meanwhile, the file has the old record, the
// new record, or invalid JSON, which counts as no record.
type directory string

// openDirectory returns the directory at path after removing its old records. Locks are kept, since another
// process may hold them. A missing directory is not an error: lock creates it.
func openDirectory(path string) (directory, error) {
	d := directory(path)
	if err := d.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(path, prefix+"*[0-9a-f]"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && time.Since(info.ModTime()) > recordTTL {
			os.Remove(file)
		}
	}
	return d, nil
}

// check returns an error if the path is not a directory, or if other users may create files there.
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

func (d directory) change(timeout time.Duration, key string, step func(text string, at int64) string) error {
	unlock, err := d.lock(timeout, key)
	if err != nil {
		return err
	}
	defer unlock()
	path := filepath.Join(string(d), key)
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
		f.Truncate(0) // the disk is full, and a part of the record is written
	}
	return err
}

// lock locks the record under key, and creates the directory if it is missing. It returns an error if the lock
// is not free within timeout.
func (d directory) lock(timeout time.Duration, key string) (unlock func() error, err error) {
	if err = d.check(); errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(string(d), 0o700)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	path := filepath.Join(string(d), prefix+key[len(key)-2:]+lockSuffix)
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err = l.TryLockContext(ctx, lockPoll)
	return l.Close, err
}

func (directory) close() {}
