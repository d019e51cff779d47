package cli

import (
	"context"
	"os"
	"time"

	"github.com/pollcli/poll/poll"
)

// killAfter is the variable that tells a command how long after TERM it is
// killed.
const killAfter = "POLL_KILL_AFTER"

// nest prepares a command for being run within the command of another poll, and
// for running one itself. Both polls stop what they run at the same moment. If
// the outer one were the first to kill, the command of the inner one, which has
// a process group of its own, would stay behind.
func (in *invocation) nest(c *poll.Command) {
	grace := max(c.Grace, 0)
	if outer, err := time.ParseDuration(in.getenv(killAfter)); err == nil && outer >= 0 {
		most := outer - outer/4
		c.Hurry = hurried(in.ctx, in.Hurry, most)
		grace = min(grace, most)
	}
	c.Env = append(os.Environ(), killAfter+"="+grace.String())
}

// hurried returns a channel that is closed when hurry is, or when d has passed
// since the end of ctx.
func hurried(ctx context.Context, hurry <-chan struct{}, d time.Duration) <-chan struct{} {
	sooner := make(chan struct{})
	go func() {
		defer close(sooner)
		select {
		case <-hurry:
			return
		case <-ctx.Done():
		}
		select {
		case <-hurry:
		case <-time.After(d):
		}
	}()
	return sooner
}
