//go:build unix && !linux

package signals

import (
	"os/signal"
	"syscall"
)

// restoreDefault gives sig the action that the system gives it. QUIT is left to
// its exit code: its default is Go's own, a dump of all goroutines.
func restoreDefault(sig syscall.Signal) bool {
	signal.Reset(sig)
	return sig != syscall.SIGQUIT
}
