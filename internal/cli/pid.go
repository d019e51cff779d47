package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
)

// watchProcesses returns a context that is also done as soon as one of the processes of
// --pid has ended: the wait has failed then. The caller calls stop.
func watchProcesses(ctx context.Context, l *argv.Line) (watching context.Context, stop func(), err error) {
	ended := make(map[string]<-chan struct{})
	for g := range l.All("pid") {
		pid, err := strconv.ParseInt(g.Value, 10, 32)
		if err != nil || pid < 1 {
			return nil, nil, argv.Usagef("%s: %q is not the number of a process", g.Origin, g.Value).
				Hint("a shell has that of the last program in the background in $!")
		}
		if ended[g.Value], err = system.ProcessEnd(int(pid)); err != nil {
			return nil, nil, argv.Usagef("%s %s: %w", g.Origin, g.Value, err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	for pid, channel := range ended {
		over := func() { cancel(poll.Permanent(fmt.Errorf("process %s has ended", pid))) }
		select {
		case <-channel: // before the first attempt
			over()
		default:
			go func() {
				<-channel
				over()
			}()
		}
	}
	return ctx, func() { cancel(nil) }, nil
}
