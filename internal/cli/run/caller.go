package run

import (
	"context"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/connect"
)

// withHost returns the context of a run. A command that reaped all for one target would reap the
// programs of others.
func (w *wait) withHost(ctx context.Context) context.Context {
	grace := hurriedGrace
	if w.process.Getenv(read.KillAfter) != "" {
		grace /= 2
	}
	return connect.WithCaller(ctx, connect.Caller{
		ReapOrphans: w.process.Release != nil && !w.spec.IsSeveral(),
		Hurry:       hurried(w.process.Hurry, grace),
	})
}

// hurriedGrace is the time between the second TERM and KILL. A poll under another poll waits half as
// long, so that it kills its own command before it is killed itself.
const hurriedGrace = 200 * time.Millisecond

// hurried returns the channel that hurries the end of a command: a value when hurry is closed, and its own
// close after the grace. If there are several commands, one gets the value.
func hurried(hurry <-chan struct{}, grace time.Duration) <-chan struct{} {
	if hurry == nil {
		return nil
	}
	sooner := make(chan struct{}, 1)
	go func() {
		<-hurry
		sooner <- struct{}{}
		time.Sleep(grace)
		close(sooner)
	}()
	return sooner
}
