// Package exitwatch tells when a process that is not a child has ended.
package exitwatch

// Notify returns a channel that is closed when the process has ended, at once if there is
// none of that number. A zombie has ended. An error says why the process cannot be
// watched.
//
// Where the system tells of ends, a process that is given the same number later is not
// mistaken for it.
func Notify(pid int) (<-chan struct{}, error) {
	ended := make(chan struct{})
	wait, err := open(pid)
	switch {
	case err != nil:
		return nil, err
	case wait == nil:
		close(ended)
		return ended, nil
	}
	go func() {
		defer close(ended)
		wait()
	}()
	return ended, nil
}
