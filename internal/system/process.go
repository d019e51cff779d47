package system

import "time"

// lookEvery is how often a process is looked for.
const lookEvery = 100 * time.Millisecond

// ProcessEnd returns a channel that is closed when the last thread of the process has ended, at once if there is
// none of that number. An error says why the process cannot be watched.
//
// On Linux, macOS and Windows a process that is given the same number later is not mistaken for it, and a
// zombie has ended, though nobody has waited for it.
func ProcessEnd(pid int) (<-chan struct{}, error) {
	ended := make(chan struct{})
	hasEnded, err := watchProcess(pid)
	if err != nil || hasEnded() {
		close(ended)
		return ended, err
	}
	go func() {
		defer close(ended)
		for !hasEnded() {
			time.Sleep(lookEvery)
		}
	}()
	return ended, nil
}
