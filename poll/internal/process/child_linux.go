package process

import "syscall"

// endWithThread arranges that the system sends SIGTERM to a program when the thread that has started the program
// ends. The threads of poll end with its process, so the program also ends when poll is killed or crashes.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
