//go:build unix

package system

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A signal that is caught late prints a dump, or ends the program as intended.
func TestSignalsWithADumpAreCaughtFirst(t *testing.T) {
	t.Parallel()
	all := ending()
	if first, rest := all[0], all[len(all)-len(plain()):]; first != syscall.SIGQUIT || !slices.Equal(rest, plain()) {
		t.Errorf("have %v", all)
	}
}

func TestEchoIsNoSecondSignal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal syscall.Signal
		after  time.Duration
		want   bool
	}{
		"the same at once":  {syscall.SIGTERM, echoTime - 1, false},
		"the same later":    {syscall.SIGTERM, echoTime, true},
		"the other at once": {syscall.SIGINT, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			caught, second := make(chan os.Signal), make(chan struct{})
			go watch(caught, cancel, second)
			defer close(caught)
			caught <- syscall.SIGTERM
			<-ctx.Done()
			time.Sleep(test.after)
			caught <- test.signal
			synctest.Wait()
			have := false
			select {
			case <-second:
				have = true
			default:
			}
			if have != test.want {
				t.Errorf("%s: have %t, want %t", name, have, test.want)
			}
		})
	}
}

func TestReleaseEndsTheCatching(t *testing.T) {
	ctx, hurry, release := CatchSignals(t.Context())
	if ctx.Err() != nil {
		t.Fatal("the context is done at once")
	}
	release()
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("have cause %v", context.Cause(ctx))
	}
	select {
	case <-hurry:
		t.Error("hurry is closed")
	default:
	}
}
