package pace

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	now, s := int64(1_700_000_000_000_000), State{}
	for range 1000 {
		now += int64(rnd.ExpFloat64() * Second / 10)
		call := Call{Op(rnd.IntN(int(Remaining) + 1)), s.Version, rnd.Int64N(9 * Second), rnd.Int64N(10)}
		s.Step(Rules{Most: 10, Horizon: Forever}, now, call)
		record := string(s.Record())
		if back, ok := Parse(record); !ok || back != s {
			t.Fatalf("%q was %+v, and is read as %+v", record, s, back)
		}
		if len(record) > 500 {
			t.Fatalf("%q has %d bytes", record, len(record))
		}
	}
}

func TestRecord_wrong(t *testing.T) {
	t.Parallel()
	const good = "2 5 1 0 0 0 0 0 0 0 0 0 0 0 7 8"
	if _, ok := Parse(good); !ok {
		t.Fatalf("%q is refused", good)
	}
	table, err := os.ReadFile("testdata/wrong-records")
	if err != nil {
		t.Fatal(err)
	}
	for wrong := range strings.SplitSeq(string(table)+"\x00\x00", "\n") {
		if s, ok := Parse(wrong); ok || s != (State{}) {
			t.Errorf("%q is read as %+v", wrong, s)
		}
	}
}

// Whatever was written somewhere, a step makes of it a state that can be written and read,
// and neither closes the place nor gives out a slot beyond the horizon.
func FuzzParse(f *testing.F) {
	const now, horizon = 1_700_000_000_000_000, 3600 * Second
	f.Add("2 5 1 0 0 0 0 0 0 0 0 0 0 0 7 8", uint8(4), 0.0, int64(1), int64(-3))
	f.Add("2 4503599627370496 4503599627370496 4503599627370496 4503599627370496 4503599627370496 4503599627370496 4503599627370496 1e-300 1e-300 4503599627370496 0 4503599627370496 1", uint8(1), 0.0, int64(0), int64(0))
	f.Fuzz(func(t *testing.T, record string, op uint8, most float64, span, n int64) {
		s, ok := Parse(record)
		if !ok && s != (State{}) {
			t.Fatalf("%q: %+v", record, s)
		}
		if !(most >= 0 && most <= 1e9) {
			return
		}
		rules := Rules{Most: most, Horizon: horizon}
		for _, call := range []Call{
			{Op: Op(op) % (Remaining + 1), Version: s.Version, Span: span % Forever, N: n % (1 << 32)},
			{Op: Reserve},
		} {
			r := s.Step(rules, now, call)
			if r.At > now+horizon || r.Closed > now+horizon || !(r.Rate >= 0) {
				t.Errorf("%+v of %q: %+v", call, record, r)
			}
			if back, ok := Parse(string(s.Record())); !ok || back != s {
				t.Errorf("%+v of %q: %+v is read as %+v", call, record, s, back)
			}
		}
	})
}
