//go:build unix && !linux

package system

import (
	"os/signal"
	"syscall"
)

// restoreDefault restores the system's default action for sig, except for QUIT,
// whose default is Go's own, a dump of all goroutines: that is left to its exit
// code.
func restoreDefault(sig syscall.Signal) bool {
	signal.Reset(sig)
	return sig != syscall.SIGQUIT
}
