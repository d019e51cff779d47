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
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// A directory keeps each record in a file, for the processes of one user on one machine. Who
// looks at a file has the lock of another one beside it.
type directory struct {
	path  string
	stuck atomic.Int32 // locks that are waited for in vain
}

// mostStuck is how many locks are waited for in vain at once: each keeps a thread.
const mostStuck = 4

// forgotten is when a file is removed that nobody has changed.
const forgotten = 24 * time.Hour

func openDirectory(path string) (*directory, error) {
	d := &directory{path: path}
	if err := d.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d.sweep()
	return d, nil
}

// check refuses what is no directory, and one that others may put files into.
func (d *directory) check() error {
	info, err := os.Stat(d.path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", d.path)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user", d.path)
	case isShared(info):
		return fmt.Errorf("other users may write to %s: it needs a directory of your own (chmod go-w)", d.path)
	}
	return nil
}

func (d *directory) swap(ctx context.Context, key, old, next string, _ time.Duration) (now string, at int64, swapped bool, err error) {
	path := filepath.Join(d.path, key)
	unlock, err := d.lock(ctx, path+".lock")
	if err != nil {
		return "", 0, false, err
	}
	defer unlock()
	at = time.Now().UnixMicro()
	now, err = read(path)
	if err != nil || next == "" || now != old {
		return now, at, false, err
	}
	// Who is killed here leaves the old record or the new one, and so does a full disk.
	if err = os.WriteFile(path+".new", []byte(next), 0o600); err == nil {
		err = os.Rename(path+".new", path)
	}
	return "", at, err == nil, err
}

// read returns the record in a file, "" if there is none.
func read(path string) (string, error) {
	if err := yield(path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostRecord))
	return string(text), err
}

// yield takes what is no file out of the way of one.
func yield(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return os.Rename(path, path+".bad")
	}
	return nil
}

// lock takes the lock of a file, and makes the directory if it is not there. It waits in line:
// who only looks now and then never gets it in a crowd.
func (d *directory) lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, err
	}
	if err := errors.Join(d.check(), yield(path)); err != nil {
		return nil, err
	}
	if d.stuck.Load() >= mostStuck {
		return nil, context.DeadlineExceeded
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	unlock = func() { l.Close() }
	if got, err := l.TryLock(); got || err != nil {
		return unlock, err
	}
	locked := make(chan error, 1)
	go func() { locked <- l.Lock() }()
	select {
	case err := <-locked:
		return unlock, err
	case <-ctx.Done():
		d.stuck.Add(1)
		go func() {
			<-locked
			unlock()
			d.stuck.Add(-1)
		}()
		return nil, ctx.Err()
	}
}

// sweep removes the records that nobody needs any more, with their locks.
func (d *directory) sweep() {
	entries, _ := os.ReadDir(d.path)
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil || !strings.HasPrefix(name, prefix) || strings.HasSuffix(name, ".lock") || time.Since(info.ModTime()) < forgotten {
			continue
		}
		path := filepath.Join(d.path, name)
		os.Remove(path)
		os.Remove(path + ".lock")
	}
}

func (d *directory) close() {}
