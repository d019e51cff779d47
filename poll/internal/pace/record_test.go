package pace

import (
	"encoding/json"
	"testing"
)

const testHour = 3600 * second

// Settle moves the times of a record when the clock is set back, and voids the slots.
func TestRecord_clockSetBack(t *testing.T) {
	r, now := NewRules(20, true, 1, testHour), int64(1e15)
	var l Record
	l.Settle(r, now)
	for range 100 {
		l.Take(r, now)
	}
	had := Slot{l.Next, l.Epoch}
	l.Refused(r, now, now, 60*second)
	now -= testHour
	l.Settle(r, now)
	if at := l.Take(r, now); at < now+59*second || at > now+61*second {
		t.Errorf("closed for %d s", (at-now)/second)
	}
	if l.Holds(had) {
		t.Error("a slot of the future holds")
	}
}

// Settle replaces an invalid record with the record of a new origin.
func TestRecord_nonsense(t *testing.T) {
	r, now := NewRules(20, true, 1, testHour), int64(1e15)
	for _, text := range []string{
		`{}`, `{"v":2,"seen":1,"base":1,"peak":1}`, `{"v":1}`, `{"v":1,"seen":1,"base":-1}`, `{"v":1,"seen":1,"base":3,"peak":2}`,
		`{"v":1,"seen":1,"sent":-1}`, `{"v":1,"seen":1,"pace":-1}`, `{"v":1,"seen":-1}`,
	} {
		var l Record
		json.Unmarshal([]byte(text), &l)
		l.Settle(r, now)
		if at := l.Take(r, now); at != now || l.Rate(r, now) != 19 {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

// Each step turns any stored record into a valid record. No step closes the origin, or takes a slot, beyond Farthest.
func FuzzRecord(f *testing.F) {
	f.Add(`{"v":1,"seen":1000000000000000,"next":1000000000100000,"epoch":5,"base":3,"peak":9,"sent":7}`, 20.0, int64(2e6), 3)
	f.Add(`{"v":1,"seen":1000000000000000,"next":9000000000000000000,"closed":9000000000000000000,"base":1e300,"peak":1e300,"sent":1e300}`, 0.0, int64(1), 0)
	f.Add(`{"v":1,"seen":9000000000000000000,"since":-9000000000000000000,"reset":-1,"pace":1e-300}`, 0.001, int64(1e18), -1)
	f.Fuzz(func(t *testing.T, text string, perSecond float64, span int64, n int) {
		const now = int64(1e15)
		var l Record
		if json.Unmarshal([]byte(text), &l) != nil || !(perSecond >= 0 && perSecond < 1e9) || span <= 0 {
			return
		}
		r := NewRules(perSecond, n%2 == 0, 1, testHour)
		l.Settle(r, now)
		for i := range 4 {
			if at := l.Take(r, now); at > now+3*testHour || at < now-second {
				t.Errorf("a slot in %d us: %+v", at-now, l)
			}
			switch i {
			case 0:
				l.Refused(r, now, now, span)
			case 1:
				l.Remaining(r, now, n, span)
			}
			l.Settle(r, now+int64(i))
			if !l.Valid() || l.Closed > now+2*testHour || l.Rate(r, now) < 0 {
				t.Fatalf("%q becomes %+v", text, l)
			}
			if _, err := json.Marshal(l); err != nil {
				t.Fatal(err)
			}
		}
	})
}
