//go:build unix && !linux

package process

import "syscall"

// endWithThread does nothing. Only Linux can end a program together with the thread that has started it.
func endWithThread(*syscall.SysProcAttr) {}
