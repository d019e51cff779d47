package system

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// watchProcess returns what waits for the end of a process; nil if it has ended.
func watchProcess(pid int) (wait func(), err error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // there is none
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open the process: %w", err)
	}
	if event, err := windows.WaitForSingleObject(process, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		windows.CloseHandle(process)
		return nil, nil
	}
	return func() {
		defer windows.CloseHandle(process)
		windows.WaitForSingleObject(process, windows.INFINITE)
	}, nil
}
