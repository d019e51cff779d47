package cli

import (
	"testing"
	"testing/synctest"
	"time"
)

// Of two polls, one within the other, the inner one kills first: its grace is three
// quarters of the other's.
func TestHurriedGrace(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{100 * time.Millisecond, time.Second, 2 * time.Second, 10 * time.Second, time.Minute} {
		outer, inner := hurriedGrace(grace), hurriedGrace(grace*3/4)
		if outer > 600*time.Millisecond || outer > grace || inner > outer-outer/100 {
			t.Errorf("%v: have %v, and %v within", grace, outer, inner)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		hurry := make(chan struct{})
		close(hurry)
		began := time.Now()
		sooner := hurried(hurry, 2*time.Second)
		_, again := <-sooner
		_, still := <-sooner
		if took := time.Since(began); !again || still || took != 200*time.Millisecond {
			t.Errorf("have %t, then %t after %v; want once more, and the end after 0.2s", again, still, took)
		}
	})
}
