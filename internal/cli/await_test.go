package cli

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failure, signal := errors.New("failure"), &SignalError{syscall.SIGTERM}
		slow := func() error { time.Sleep(time.Second); return failure }
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := await(ctx, slow); err != failure {
			t.Errorf("await: have %v, want what it returns", err)
		}
		if err := deliver(ctx, slow); err != failure {
			t.Errorf("deliver: have %v, want what it returns", err)
		}
		time.AfterFunc(time.Millisecond, func() { cancel(signal) })
		if err := deliver(ctx, slow); err != signal {
			t.Errorf("deliver at a signal: have %v, want the signal", err)
		}
		if err := await(ctx, slow); err != signal {
			t.Errorf("await after a signal: have %v, want the signal", err)
		}
		// What came of the signal is written.
		if err := deliver(ctx, slow); err != failure {
			t.Errorf("deliver after a signal: have %v, want what it returns", err)
		}
	})
}

func TestDeliver_theGuardKnows(t *testing.T) {
	t.Parallel()
	w := World{guard: &guard{}}
	err := w.deliver(t.Context(), func() error {
		if !w.guard.writing.Load() {
			t.Error("the result is being written, and the guard does not know")
		}
		return nil
	})
	if err != nil || w.guard.writing.Load() {
		t.Errorf("it has been written, %v, and the guard does not know", err)
	}
}
