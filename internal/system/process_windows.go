package system

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// watchProcess returns a function that reports whether the process pid has ended. It fails if the process cannot
// be opened.
func watchProcess(pid int) (hasEnded func() bool, err error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // no process has this number
		return func() bool { return true }, nil
	case err != nil:
		return nil, fmt.Errorf("open the process: %w", err)
	}
	return func() bool { // the open handle keeps the number from being used again
		event, err := windows.WaitForSingleObject(process, 0)
		return err != nil || event == windows.WAIT_OBJECT_0
	}, nil
}
