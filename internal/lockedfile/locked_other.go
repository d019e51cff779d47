//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lockedfile

import (
	"context"
	"errors"
	"os"
)

// OpenLocked opens a file as OpenOwn does, and locks it. Closing it unlocks it.
func OpenLocked(ctx context.Context, path string, flag int) (f *os.File, closeIt func() error, err error) {
	unlock, err := Lock(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	f, err = OpenOwn(path, flag)
	if err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	return f, func() error { return errors.Join(f.Close(), unlock()) }, nil
}
