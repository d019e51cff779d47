// Package poll waits for an asynchronous operation: it probes again and again
// until rules say that the operation is done or has failed.
package poll
