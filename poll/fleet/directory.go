package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockSuffix = ".lock"
	nap        = time.Millisecond // between two attempts to get a lock, which is held for less
)

// A directory keeps each record in a file, for the processes of one user on one machine. Who
// looks at a file has the lock of another one, which some of the records share and which stays.
type directory string

// openDirectory returns a directory, of which it removes what nobody needs any more.
func openDirectory(path string) (directory, error) {
	d := directory(path)
	if err := d.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	records, _ := filepath.Glob(filepath.Join(path, prefix+"*[0-9a-f]"))
	for _, record := range records {
		if info, err := os.Lstat(record); err == nil && time.Since(info.ModTime()) > life {
			os.Remove(record)
		}
	}
	return d, nil
}

// check refuses what is no directory, and one that others may put files into.
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

func (d directory) swap(ctx context.Context, key, old, next string) (now string, at int64, swapped bool, err error) {
	path := filepath.Join(string(d), key)
	unlock, err := d.lock(ctx, path)
	if err != nil {
		return "", 0, false, err
	}
	defer unlock()
	at = time.Now().UnixMicro()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if now = string(text); err != nil || next == "" || now != old {
		return now, at, false, err
	}
	// Who is killed here leaves the old record or the new one, and so does a full disk.
	// What is there may be a link, or a pipe that nobody reads.
	os.Remove(path + ".new")
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	_, failed := f.WriteString(next)
	if err = cmp.Or(err, failed, f.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	return "", at, err == nil, err
}

// lock takes the lock of a record, and makes the directory if it is not there.
func (d directory) lock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	shared := filepath.Join(string(d), prefix+path[len(path)-2:]+lockSuffix)
	if err := cmp.Or(d.check(), yield(path), yield(shared)); err != nil {
		return nil, err
	}
	l := flock.New(shared, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err = l.TryLockContext(ctx, nap)
	return l.Close, err
}

// yield takes what is no file out of the way of one.
func yield(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return os.Rename(path, fmt.Sprint(path, ".", time.Now().UnixNano()))
	}
	return nil
}

func (directory) close() {}
