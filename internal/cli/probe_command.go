package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func (w *wait) readCommand(ctx context.Context, l *argv.Line, world World) error {
	if err := refuseGroup(l, groupHTTP, "is for a URL, and a command is waited for"); err != nil {
		if stray := refuseStray(l); stray != nil {
			return stray
		}
		return err
	}
	c := poll.Command{
		Args:        l.Operands,
		Foreground:  l.On("foreground"),
		Grace:       l.Duration("grace", poll.DefaultGrace),
		MaxBody:     l.Size("max-body", 0),
		ReapOrphans: os.Getpid() == 1, // as which a container may run poll
		Hurry:       world.Hurry,
	}
	if c.Grace == 0 {
		c.Grace = poll.NoGrace
	}
	nest(ctx, world, &c)
	if l.On("stdin") {
		input, err := world.readFile("-", mostInput)
		if err != nil {
			return fmt.Errorf("read stdin: %w", err)
		}
		c.Stdin = append([]byte{}, input...)
	}
	w.kind, w.command = status.KindCommand, &c
	w.poller.Probe = c
	return w.checkProgram(l, c)
}

// refuseGroup refuses the flags of a group that were typed. Those in the
// environment are for other waits.
func refuseGroup(l *argv.Line, group, why string) error {
	for _, g := range l.Given {
		if g.Flag.Group == group && !g.Variable && !g.Off() {
			return argv.Usagef("--%s %s", g.Flag.Name, why)
		}
	}
	return nil
}

// killAfter is the variable that tells a command how long after TERM it is
// killed.
const killAfter = "POLL_KILL_AFTER"

// nest prepares a command for being run within the command of another poll, and
// for running one itself. Both polls stop what they run at the same moment. If
// the outer one were the first to kill, the command of the inner one, which has
// a process group of its own, would stay behind.
func nest(ctx context.Context, world World, c *poll.Command) {
	grace := max(c.Grace, 0)
	if outer, err := time.ParseDuration(world.getenv(killAfter)); err == nil && outer >= 0 {
		most := outer - outer/4
		c.Hurry = hurried(ctx, world.Hurry, most)
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
