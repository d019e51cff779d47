package cause

import (
	"testing"
	"time"
)

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                          "0s",
		85_400 * time.Microsecond:  "85ms",
		999_600 * time.Microsecond: "1s",
		2460 * time.Millisecond:    "2.5s",
		29_990 * time.Millisecond:  "30s",
		59_900 * time.Millisecond:  "1m",
		90 * time.Second:           "1m30s",
		10 * time.Minute:           "10m",
		3 * time.Hour:              "3h",
		3605 * time.Second:         "1h0m5s",
	} {
		if have := Short(d); have != want {
			t.Errorf("%v: have %s, want %s", d, have, want)
		}
	}
}
