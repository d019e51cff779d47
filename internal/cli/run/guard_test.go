package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/system"
)

// A guarded value describes the events in a process with a guard, and the expected end.
type guarded struct {
	timeout, grace time.Duration
	signal, second time.Duration // 0 means no signal
	released       time.Duration // when the process ends by itself; 0 means never
	read           time.Duration // when the reader of the result stops
	writing        bool          // the result is being written
	want           string
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]guarded{
		"a signal before the deadline":    {timeout: 10 * time.Second, grace: 8 * time.Second, signal: 4 * time.Second, want: "14s ended by SIGTERM"},
		"a late second signal":            {grace: 3 * time.Second, signal: 4 * time.Second, second: 8500 * time.Millisecond, want: "9s ended by SIGTERM"},
		"an end within the grace":         {timeout: 10 * time.Second, grace: 30 * time.Second, released: 41 * time.Second, want: ""},
		"a reader":                        {timeout: 10 * time.Second, grace: 3 * time.Second, read: time.Minute, released: time.Minute, want: ""},
		"a reader who stops":              {timeout: 10 * time.Second, grace: 3 * time.Second, read: 20 * time.Second, want: "25s timed out after 10s"},
		"nobody reads":                    {timeout: 10 * time.Second, grace: 3 * time.Second, writing: true, want: "15s timed out after 10s, and the result was not written in full by then"},
		"a signal, and there is a reader": {timeout: 10 * time.Second, grace: 3 * time.Second, read: time.Minute, signal: 12 * time.Second, want: "17s ended by SIGTERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if have := g.run(t); have != g.want {
				t.Errorf("have %q, want %q", have, g.want)
			}
		})
	}
}

// run returns when and why the guard has ended the process, or "".
func (g guarded) run(t *testing.T) (ended string) {
	signal := &system.SignalError{Signal: syscall.SIGTERM}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		hurry := make(chan struct{})
		watched := &Guard{ctx: ctx, hurry: hurry, end: func(err error) { ended = fmt.Sprint(time.Since(began), " ", err) }}
		watched.writing.Store(g.writing)
		go func() {
			for ; time.Since(began) <= g.read; time.Sleep(time.Second) {
				watched.Touch()
			}
		}()
		watched.setDeadline(g.timeout, began.Add(g.timeout), g.grace)
		for at, do := range map[time.Duration]func(){
			g.signal:   func() { cancel(signal) },
			g.released: func() { cancel(context.Canceled) },
		} {
			if at > 0 {
				time.AfterFunc(at, do)
			}
		}
		time.AfterFunc(cmp.Or(g.second, 2*time.Hour), func() { close(hurry) })
		context.AfterFunc(ctx, watched.AtSignal)
		time.Sleep(time.Hour)
		cancel(context.Canceled)
		time.Sleep(2 * time.Hour)
	})
	return strings.Replace(ended, signal.Error(), "ended by SIGTERM", 1) // the name of the signal differs on Windows
}

// A reader of the complete result may send a signal before poll knows that the result was read.
func TestDeliver_signalAfterTheResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := Host{}.Deliver(ctx, func() error {
			cancel(&system.SignalError{Signal: syscall.SIGTERM})
			time.Sleep(messageTime / 2)
			return nil
		})
		if err != nil {
			t.Errorf("have %v, want nil: the result was delivered in full", err)
		}
	})
}
