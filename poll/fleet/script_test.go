package fleet

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/pollcli/poll/internal/pace"
)

// A twin takes each step twice: by the script and by pace, which it is a translation of.
type twin struct {
	t      testing.TB
	engine *redisEngine
	conn   redis.Conn
	rnd    *rand.Rand
}

func newTwin(t testing.TB) *twin {
	s := serve(t, false)
	e, _, err := open(s.url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tw := &twin{t: t, engine: e.(*redisEngine), conn: s.connect(t), rnd: rand.New(rand.NewPCG(1, 2))}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	if err := e.connect(ctx); err != nil {
		t.Fatal(err)
	}
	return tw
}

// record returns the record of the only place, "" if there is none.
func (tw *twin) record() string {
	tw.t.Helper()
	text, err := redis.String(tw.conn.Do("GET", redisKey("a")))
	if err != nil && err != redis.ErrNil {
		tw.t.Fatal(err)
	}
	return text
}

// step takes a step, and compares what comes of it.
func (tw *twin) step(r pace.Rules, c pace.Call) pace.Reply {
	tw.t.Helper()
	before := tw.record()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	have, err := tw.engine.step(ctx, "a", r, c)
	if err != nil {
		tw.t.Fatalf("%+v of %q: %v", c, before, err)
	}
	state, _ := pace.Parse(before)
	want := state.Step(r, have.Now, c)
	if have != want {
		tw.t.Fatalf("%+v with %+v of %q:\nscript %+v\npace   %+v", c, r, before, have, want)
	}
	if c.Op == pace.Look {
		return have
	}
	if kept, ok := pace.Parse(tw.record()); !ok || kept != state {
		tw.t.Fatalf("%+v with %+v of %q:\nscript %+v, %v\npace   %+v", c, r, before, kept, ok, state)
	}
	return have
}

func (tw *twin) rules() pace.Rules {
	rates := []float64{0, 0, 0.01, 1, 19, 1234.5}
	return pace.Rules{Most: rates[tw.rnd.IntN(6)], Start: rates[tw.rnd.IntN(6)], Horizon: horizon}
}

// call returns a random call, of a slot of the version more often than not.
func (tw *twin) call(version int64) pace.Call {
	c := pace.Call{Op: pace.Op(tw.rnd.IntN(int(pace.Remaining) + 1)), Version: version}
	if tw.rnd.IntN(4) == 0 {
		c.Version -= tw.rnd.Int64N(3)
	}
	c.Span = tw.rnd.Int64N(int64(10*time.Second/time.Microsecond)) - pace.Second
	c.N = tw.rnd.Int64N(20) - 2
	switch tw.rnd.IntN(50) {
	case 0, 1, 2:
		c.Span = 0
	case 3:
		c.Span *= 10_000
	}
	return c
}

// From one record to the next.
func TestScript_sequences(t *testing.T) {
	t.Parallel()
	tw := newTwin(t)
	for range 30 {
		command(t, tw.conn, "DEL", redisKey("a"))
		rules, version := tw.rules(), int64(0)
		for range 60 {
			version = tw.step(rules, tw.call(version)).Version
		}
	}
}

// From any record: those of other moments, and those that no program writes.
func TestScript_records(t *testing.T) {
	t.Parallel()
	tw := newTwin(t)
	for range 3000 {
		s := tw.state(time.Now().UnixMicro())
		command(t, tw.conn, "SET", redisKey("a"), s.Record())
		tw.step(tw.rules(), tw.call(s.Version))
	}
}

// What no program writes is read, or refused, alike.
func FuzzScript(f *testing.F) {
	table, err := os.ReadFile("../../internal/pace/testdata/wrong-records")
	if err != nil {
		f.Fatal(err)
	}
	for wrong := range strings.SplitSeq(string(table), "\n") {
		f.Add(wrong)
	}
	f.Add("2 5 1 0.5e3 0 0 0 0 0 0 0 0 0 0 7 8")
	f.Add("2 5 1 0 0 0 0 0 2.5 0e1 .5 1. 3 1 00")
	tw := newTwin(f)
	f.Fuzz(func(t *testing.T, record string) {
		tw.t = t
		command(t, tw.conn, "SET", redisKey("a"), record)
		tw.step(pace.Rules{Most: 5, Horizon: horizon}, pace.Call{Op: pace.Reserve})
	})
}

// state returns a random state of a place that is used now, or was.
func (tw *twin) state(now int64) (s pace.State) {
	near := func() int64 {
		switch tw.rnd.IntN(6) {
		case 0:
			return 0
		case 1:
			return tw.rnd.Int64N(pace.Forever)
		}
		return now + int64(tw.rnd.NormFloat64()*pace.Second*[]float64{0.3, 3, 300, 5000}[tw.rnd.IntN(4)])
	}
	rate := func() float64 { return []float64{0, 0.001, 1, 1.0 / 3, 20, 5000}[tw.rnd.IntN(6)] }
	s = pace.State{
		Now: max(1, near()), Version: near(), Since: near(), Closed: near(), Reset: near(), Last: near(), Begun: near(),
		Base: rate(), Knee: rate(), Pace: rate(), Here: float64(tw.rnd.IntN(50)), Before: tw.rnd.Float64(), First: tw.rnd.IntN(2) == 0,
	}
	n := tw.rnd.IntN(len(s.Free) + 1)
	for i := range n {
		s.Free[i] = 1 + near()
	}
	slices.Sort(s.Free[:n])
	return s
}

// A record is kept for ten minutes after all that it says is over.
func TestScript_expiry(t *testing.T) {
	t.Parallel()
	tw := newTwin(t)
	for _, test := range []struct {
		call pace.Call
		want time.Duration
	}{
		{pace.Call{Op: pace.Reserve}, 10 * time.Minute},
		{pace.Call{Op: pace.Throttled, Span: 60 * pace.Second}, 11 * time.Minute},
		{pace.Call{Op: pace.Remaining, Span: 120 * pace.Second, N: 1}, 12 * time.Minute},
	} {
		tw.step(pace.Rules{Horizon: horizon}, test.call)
		ms, err := redis.Int64(tw.conn.Do("PTTL", redisKey("a")))
		left := time.Duration(ms) * time.Millisecond
		if err != nil || left > test.want+time.Millisecond || left < test.want-30*time.Second {
			t.Errorf("after %+v, the record is kept for %s, want %s (%v)", test.call, left, test.want, err)
		}
	}
}

// Whatever a server says, it is an answer that can be used, or none.
func FuzzParseReply(f *testing.F) {
	f.Add("1700000000000000 1 1 1700000000000001 0 0.5")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseReply(text)
		if err == nil && (r.Now < 0 || r.At < 0 || r.Closed < 0 || !(r.Rate >= 0) || r.Rate > pace.Forever) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}

func TestParseReply_wrong(t *testing.T) {
	t.Parallel()
	if r, err := parseReply("5 6 1 7 8 0.5"); err != nil || r != (pace.Reply{Now: 5, Version: 6, Holds: true, At: 7, Closed: 8, Rate: 0.5}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, wrong := range []string{"", "1", "1 2 3 4 5", "1 2 1 4 5 6 7", "1 2 1 4 5 -6", "1 2 1 4 5 NaN", "1 2 1 4 5 Inf",
		"-1 2 1 4 5 6", "1 2 1 9999999999999999999 5 6", "1 2 1 9099999999999999 5 6", "x 2 1 4 5 6", "1 2 1 4\n5 6"} {
		if r, err := parseReply(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, r)
		}
	}
}
