//go:build unix && !linux

package system

func watchProcess(pid int) (hasEnded func() bool, err error) { return watchNumber(pid), nil }
