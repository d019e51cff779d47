//go:build unix && !linux

package poll

// onlyZombies would report whether all members of a group have ended and wait
// for being reaped; here nobody knows.
func onlyZombies(int) bool { return false }
