package run

import (
	"context"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/connect"
)

// withHost returns the context of a run with the settings for its commands. Orphans are only reaped in a wait
// for a single target: with several targets, one command's reaping would take the exit codes of the other
// commands.
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

// hurriedGrace is the time from the second TERM to the KILL. If poll itself runs under poll, it uses half of
// hurriedGrace, so that it kills its command before it is killed.
const hurriedGrace = 200 * time.Millisecond

// hurried returns a channel that shortens the end of a command. The channel receives one value when hurry is
// closed, and is closed after the grace. With several commands only one receives the value. hurried returns
// nil if hurry is nil.
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
