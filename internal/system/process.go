package system

// ProcessEnd returns a channel that is closed when the process has ended, at once if there is
// none of that number. An error says why the process cannot be watched.
//
// On Linux and Windows a process that is given the same number later is not mistaken for it, and a
// zombie has ended, though nobody has waited for it.
func ProcessEnd(pid int) (<-chan struct{}, error) {
	ended := make(chan struct{})
	wait, err := watchProcess(pid)
	if wait == nil {
		close(ended)
		return ended, err
	}
	go func() {
		defer close(ended)
		wait()
	}()
	return ended, nil
}
