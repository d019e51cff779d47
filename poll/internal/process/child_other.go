//go:build unix && !linux

package process

import "syscall"

// endWithThread does nothing: only Linux can end a program with the thread that has
// started it.
func endWithThread(*syscall.SysProcAttr) {}
