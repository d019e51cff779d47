//go:build unix

package system

import (
	"errors"
	"syscall"
	"time"
)

// lookEvery is how often a process is looked for where the system does not tell of its
// end.
const lookEvery = 100 * time.Millisecond

// look returns what waits for the end of a process by looking for it; nil if there is
// none.
func look(pid int) func() {
	gone := func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
	if gone() {
		return nil
	}
	return func() {
		for !gone() {
			time.Sleep(lookEvery)
		}
	}
}
