package ui

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                         "0.0s",
		2460 * time.Millisecond:   "2.4s",
		59960 * time.Millisecond:  "59.9s",
		119900 * time.Millisecond: "1m59s",
		90 * time.Minute:          "1h30m00s",
	} {
		if have := clock(d); have != want {
			t.Errorf("%v: have %q, want %q", d, have, want)
		}
	}
}
