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
	lockPoll   = time.Millisecond // pause between two attempts to acquire a lock; longer than a process usually holds a lock
)

// A directory is a store for the processes of one user on one machine. It keeps each record in a separate file.
// A process holds a lock while it changes a record. The lock is on another file, which several records share
// and which is never removed.
//
// A record is the first line of its file. The file is overwritten in place, because replacing it would take
// thirty times as long. Nothing is synced to disk. If the process or the machine crashes during a write, the
// file contains the old record, the new record or invalid JSON. Invalid JSON is treated as a missing record.
type directory string

// openDirectory returns the directory at path, and removes old records from it. It keeps all lock files,
// because other processes may hold the locks. A missing directory is not an error; it is created when a record
// is first locked.
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

// check returns an error if d is missing, is not a directory, or may be changed by other users.
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

// change implements [store.change]. It waits at most timeout for the lock.
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
		f.Truncate(0) // the disk is full, and only a part of the record was written
	}
	return err
}

// lock locks the record under key, and returns a function that unlocks it. It creates a missing directory. It
// returns an error if it cannot acquire the lock within timeout.
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

// close does nothing: a directory needs no cleanup.
func (directory) close() {}
