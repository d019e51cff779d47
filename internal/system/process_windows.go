package system

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// watchProcess returns what reports whether a process has ended.
func watchProcess(pid int) (hasEnded func() bool, err error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // there is none
		return func() bool { return true }, nil
	case err != nil:
		return nil, fmt.Errorf("open the process: %w", err)
	}
	return func() bool { // its handle keeps the number from being given out again
		event, err := windows.WaitForSingleObject(process, 0)
		return err != nil || event == windows.WAIT_OBJECT_0
	}, nil
}
