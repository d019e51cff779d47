//go:build !linux

package process

// ended reports whether the program is known to have ended.
func (c *child) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}
