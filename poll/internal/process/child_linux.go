package process

import "syscall"

// endWithThread has the system send a program SIGTERM when the thread that has
// started it ends, which is when the process is killed or crashes.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
