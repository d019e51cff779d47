package poll

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	var d durations
	if have := d.median(); have != 0 {
		t.Errorf("of nothing: have %s, want 0s", have)
	}
	for _, ms := range []time.Duration{40, 10, 900, 20, 30} {
		d.add(ms * time.Millisecond)
	}
	if have, want := d.median(), 30*time.Millisecond; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
	for range maxDurations { // the old ones are forgotten
		d.add(time.Second)
	}
	if have := d.median(); have != time.Second {
		t.Errorf("of the newest: have %s, want 1s", have)
	}
}

func TestReserve(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct{ left, median, want time.Duration }{
		{10 * time.Second, 0, 50 * ms}, // attempts that take no time are known, too
		{10 * time.Second, 40 * ms, 80 * ms},
		{60 * ms, 0, 30 * ms}, // no more than half of what is left
		{1000 * ms, 400 * ms, 500 * ms},
		{1000 * ms, 600 * ms, 800 * ms}, // but what holds an attempt, if that is more
		{1000 * ms, 1000 * ms, 500 * ms},
		{0, time.Second, 0},
	} {
		var took durations
		took.add(test.median)
		if have := reserve(test.left, took, 0); have != test.want {
			t.Errorf("%s left, attempts of %s: have %s, want %s", test.left, test.median, have, test.want)
		}
	}
}

func TestReserve_nothingMeasured(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]time.Duration{
		time.Hour:             2 * time.Second,
		3 * time.Second:       1500 * time.Millisecond, // no more than half of what is left
		10 * time.Millisecond: 5 * time.Millisecond,
	} {
		if have := reserve(left, durations{}, 0); have != want {
			t.Errorf("%s left: have %s, want %s", left, have, want)
		}
	}
}
