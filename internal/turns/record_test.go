package turns

import (
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	for _, s := range []State{
		{},
		{Begun: 1, Ended: 2, First: 3, N: 4, Wait: 5, Next: 6, Long: true, Owner: 1<<64 - 1, Claimed: 7, Lease: maxNumber},
	} {
		record := s.Record()
		if have, ok := Parse(record); !ok || have != s || len(record) > 200 {
			t.Errorf("%q: %+v, %v", record, have, ok)
		}
	}
	if have := (&State{Begun: 1, N: 4, Owner: 255}).Record(); have != "1 1 0 0 4 0 0 0 0 0 ff" { // programs of other versions read it
		t.Errorf("the record is %q", have)
	}
}

func TestParse_wrong(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		"", "1", "2 1 2 3 4 5 6 1 7 8 ff", "1 1 2 3 4 5 6 1 7 8", "1 1 2 3 4 5 6 1 7 8 ff ", " 1 1 2 3 4 5 6 1 7 8 ff",
		"1 1 2 3 4 5 6 2 7 8 ff", "1 -1 2 3 4 5 6 1 7 8 ff", "1 +1 2 3 4 5 6 1 7 8 ff", "1 1.5 2 3 4 5 6 1 7 8 ff",
		"1 4503599627370496 2 3 4 5 6 1 7 8 ff", "1 1 2 3 4 5 6 1 7 8 fg", "1 1 2 3 4 5 6 1 7 8 10000000000000000",
		"1  2 3 4 5 6 1 7 8 ff", "1 1 2 3 4 5 6 1 7 8 ff\n", "1 " + strings.Repeat("0", 200) + "1 2 3 4 5 6 1 7 8 ff",
	} {
		if s, ok := Parse(wrong); ok || s != (State{}) {
			t.Errorf("%q is read as %+v", wrong, s)
		}
	}
}

// Whatever was written, nobody waits for long, and takes what is not new.
func FuzzParse(f *testing.F) {
	f.Add((&State{Begun: now - 1, Ended: now, First: 3, N: 4, Wait: 5, Next: 6, Owner: 5, Claimed: now, Lease: now + Lease}).Record(), int64(now), int64(0), false)
	f.Add((&State{Begun: now - 1, Long: true, Next: 1 << 50}).Record(), int64(now), int64(now), true)
	f.Add("1 1 2 3 4 5 6 1 7 8 ff", int64(now), int64(1), true)
	f.Fuzz(func(t *testing.T, record string, at, since int64, versed bool) {
		s, ok := Parse(record)
		if !ok || at <= 0 || at > maxNumber/2 {
			return
		}
		m := Member{ID: 1, Since: since, Versed: versed}
		begun := s.Begun
		turn, until := s.Claim(&m, at, 5*Second)
		switch {
		case turn == Take && (begun <= since || begun > at+1 || m.Since != begun):
			t.Errorf("%q: takes what began at %d", record, begun)
		case turn == Hold && (until <= at || until > at+1800*Second):
			t.Errorf("%q at %d: holds until %d", record, at, until)
		case turn == Ask && (!s.End(m, at+1, Answered, Second) || s.Begun < at):
			t.Errorf("%q: %+v", record, s)
		}
		if _, ok := Parse(s.Record()); !ok {
			t.Errorf("%q becomes %q", record, s.Record())
		}
	})
}
