package cli

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/poll"
)

// watchProcesses returns a context that is also done as soon as one of the processes of
// --pid has ended: the wait has failed then. The caller calls stop.
func watchProcesses(ctx context.Context, s *Spec) (watching context.Context, stop func(), err error) {
	ended := make(map[int]<-chan struct{})
	for _, pid := range s.Pid {
		if ended[pid], err = system.ProcessEnd(pid); err != nil {
			return nil, nil, argv.Usagef("%s %d: %w", s.Origin("pid"), pid, err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	for pid, channel := range ended {
		over := func() { cancel(poll.Permanent(fmt.Errorf("process %d has ended", pid))) }
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
