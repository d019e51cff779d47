//go:build unix && !linux

package process

import "syscall"

// endWithThread does nothing: only Linux can end a program when the thread that started the program ends.
func endWithThread(*syscall.SysProcAttr) {}
