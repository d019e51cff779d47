//go:build unix && !linux

package system

// watchProcess returns a function that reports whether the process pid has ended. err is always nil.
func watchProcess(pid int) (hasEnded func() bool, err error) { return watchNumber(pid), nil }
