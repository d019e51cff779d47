package process

import "syscall"

// endWithThread makes the system send SIGTERM to a program when the thread that started the program ends. So the program
// ends when this process is killed or crashes.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
