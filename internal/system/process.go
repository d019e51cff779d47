package system

import "time"

// lookEvery is the interval between two checks whether a process has ended.
const lookEvery = 100 * time.Millisecond

// ProcessEnd returns a channel that is closed when the last thread of the process pid has ended. The channel is
// closed at once if there is no such process. If the process cannot be watched, ProcessEnd returns an error and
// a closed channel.
//
// On Linux, macOS and Windows a later process with the same number is not mistaken for the process. A zombie has
// ended, even if its parent has not yet waited.
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
