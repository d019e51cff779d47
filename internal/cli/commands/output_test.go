package commands

import (
	"math"
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		d            time.Duration
		number, flag string
	}{
		{0, "0", "0s"},
		{5, "0.000000005", "5ns"},
		{1500 * time.Nanosecond, "0.0000015", "1.5µs"},
		{123_456_789, "0.123", "123.456789ms"},
		{3075 * time.Millisecond, "3.075", "3.075s"},
		{59_999_999_999, "60", "59.999999999s"},
		{10 * time.Hour, "36000", "10h"},
		{time.Hour + 5*time.Second, "3605", "1h0m5s"},
		{390_627 * time.Second, "390627", "108h30m27s"},
		{math.MaxInt64, "9223372036.854776", "2562047h47m16.854775807s"},
	} {
		if have := [2]string{secondsText(test.d), asFlag(test.d)}; have != [2]string{test.number, test.flag} {
			t.Errorf("%d ns: have %q, want %q and %q", test.d, have, test.number, test.flag)
		}
		if have, err := time.ParseDuration(asFlag(test.d)); have != test.d || err != nil {
			t.Errorf("%q is read as %v, %v; want %v", asFlag(test.d), have, err, test.d)
		}
	}
}
