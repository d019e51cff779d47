package commands

import (
	"cmp"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/cli/read"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// The bounds of the fourth wait, 800ms without jitter, after NOT_READY and after
// THROTTLED.
func TestWaits_Schedules(t *testing.T) {
	type span struct{ low, high time.Duration }
	tests := []struct {
		jitter         string
		max            time.Duration
		own, throttled span
	}{
		{read.JitterAuto, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{read.JitterAuto, 1000 * ms, span{800 * ms, 800 * ms}, span{800 * ms, 1000 * ms}},
		{read.JitterAuto, 300 * ms, span{300 * ms, 300 * ms}, span{300 * ms, 300 * ms}},
		{"", read.NoCap, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{read.JitterNone, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 800 * ms}},
		{read.JitterFull, 20 * s, span{0, 800 * ms}, span{0, 800 * ms}},
		{read.JitterFull, 300 * ms, span{0, 300 * ms}, span{0, 300 * ms}},
		{read.JitterEqual, 300 * ms, span{150 * ms, 300 * ms}, span{150 * ms, 300 * ms}},
		{read.JitterDecorrelated, 20 * s, span{100 * ms, 8100 * ms}, span{100 * ms, 8100 * ms}},
		{read.JitterDecorrelated, 300 * ms, span{100 * ms, 300 * ms}, span{100 * ms, 300 * ms}},
	}
	for _, tt := range tests {
		own, throttled := read.Waits{Jitter: tt.jitter, MaxWait: tt.max}.Schedules()
		fourth := func(schedule backoff.Schedule) span {
			rows := table{schedule: schedule, attempts: 4}.rows()
			return span{rows[3].Min, rows[3].Max}
		}
		if got := fourth(own); got != tt.own {
			t.Errorf("jitter %q, cap %v: waits %v, want %v", tt.jitter, tt.max, got, tt.own)
		}
		if got := fourth(throttled); got != tt.throttled {
			t.Errorf("jitter %q, cap %v: throttled waits %v, want %v", tt.jitter, tt.max, got, tt.throttled)
		}
	}
}

// With every jitter, each rejection doubles an interval up to the longest wait. The test draws the greatest
// random numbers, so that it sees the upper bounds of the waits.
func TestWaits_refusals(t *testing.T) {
	interval := s
	for _, jitter := range []string{read.JitterAuto, read.JitterNone, read.JitterFull, read.JitterEqual} {
		own, throttled := read.Waits{Interval: &interval, MaxWait: 5 * s, Jitter: jitter}.Resolved(s, 20*s).Schedules()
		for refusals, want := range []time.Duration{1 * s, 2 * s, 4 * s, 5 * s, 5 * s} {
			after, again := backoff.Step{Refusals: refusals}, backoff.Step{Refusals: refusals - 1}
			if got := own.Wait(after, most()); got != want {
				t.Errorf("%s: %d refusals: waits %v, want %v", jitter, refusals, got, want)
			}
			if refusals == 0 {
				continue
			}
			if got := throttled.Wait(again, most()); got != want {
				t.Errorf("%s: after refusal %d: waits %v, want %v", jitter, refusals, got, want)
			}
		}
	}
}

// most returns random numbers that are all the greatest.
func most() *rand.Rand { return rand.New(greatest{}) }

type greatest struct{}

func (greatest) Uint64() uint64 { return math.MaxUint64 }

// Waits are within their bounds for all parameters and steps.
func FuzzSchedules(f *testing.F) {
	f.Add(int64(100*ms), 2.0, 4.0, int64(20*s), uint64(1))
	for _, number := range []float64{math.Inf(-1), -2, 0, 5e-324, 0.5, 1, 1e300, math.Inf(1), math.NaN()} {
		for _, limit := range []int64{-1, 0, 1, math.MaxInt64} {
			for _, base := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				f.Add(base, number, number, limit, uint64(2))
			}
		}
	}
	f.Fuzz(func(t *testing.T, base int64, factor, power float64, limit int64, seed uint64) {
		for _, strategy := range read.Strategies() {
			for _, jitter := range read.Jitters() {
				checkBounds(t, read.Waits{
					Strategy: strategy, Jitter: jitter, Base: time.Duration(base), Factor: factor, Power: power, MaxWait: time.Duration(limit),
				}, seed)
			}
		}
	})
}

// checkBounds checks many waits of w, also for very late steps.
func checkBounds(t *testing.T, w read.Waits, seed uint64) {
	t.Helper()
	limit := cmp.Or(w.MaxWait, backoff.DefaultMaxWait)
	if limit < 0 {
		limit = math.MaxInt64
	}
	check := func(n int, wait time.Duration) {
		if wait < 0 || wait > limit {
			t.Fatalf("%+v: step %d waits %v, want 0 to %v", w, n, wait, limit)
		}
	}
	own, throttled := w.Schedules()
	for _, schedule := range []backoff.Schedule{own, throttled} {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 0
		for wait := range backoff.Waits(schedule, r) {
			check(n, wait)
			if n++; n == 200 {
				break
			}
		}
		for _, n := range []int{math.MinInt, -1, math.MaxInt32, math.MaxInt} {
			check(n, schedule.Wait(backoff.Step{N: n, Elapsed: math.MaxInt64, Previous: math.MaxInt64}, r))
		}
	}
}

// line returns a series of points with x = 1, 2, 3 ...
func line(name string, ys ...float64) series {
	s := series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, point{X: float64(i + 1), Y: y})
	}
	return s
}

// texts returns the texts of an SVG. The test fails if the SVG is not well-formed.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var found []string
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			found = append(found, string(text))
		}
	}
}

func TestPicture(t *testing.T) {
	seconds := axis{Name: "time", seconds: true}
	tests := []struct {
		name string
		plot plot
		want []string
	}{
		{"one series", plot{Title: "a < b & c", X: axis{Name: "n"}, Series: []series{line("", 10, 20, 30, 40)}},
			[]string{"a < b & c", "0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "0", "5", "10", "15", "20", "25", "30", "35", "40", "n"}},
		{"seconds, with a legend", plot{Y: seconds, Series: []series{line("x", 60, 200), line("y", 90, 300)}},
			[]string{"0", "0.5", "1", "1.5", "2", "0s", "1m", "2m", "3m", "4m", "5m", "time", "x", "y"}},
		{"far apart", plot{Y: seconds, Series: []series{line("x", 0, 1), line("y", 2, 1e6)}},
			[]string{"0", "0.5", "1", "1.5", "2", "1s", "10s", "1m40s", "16m40s", "2h46m40s", "1d3h46m40s", "11d13h46m40s", "time", "x", "y"}},
		{"too long for a duration", plot{Y: seconds, Series: []series{line("x", 1e9), line("y", 1e12)}},
			[]string{"0", "0.2", "0.4", "0.6", "0.8", "1", "11574d1h46m40s", "over 292 years", "over 292 years", "over 292 years", "time", "x", "y"}},
		{"all zero", plot{Series: []series{line("", 0)}},
			[]string{"0", "0.2", "0.4", "0.6", "0.8", "1", "0", "0.2", "0.4", "0.6", "0.8", "1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := gocmp.Diff(test.want, texts(t, picture(test.plot))); diff != "" {
				t.Errorf("texts (-want +have):\n%s", diff)
			}
		})
	}
}

// The axes end in the corners of the chart.
func TestPicture_positions(t *testing.T) {
	svg := string(picture(plot{Series: []series{{Points: []point{{0, 0}, {5, 1}, {10, 4}}}}}))
	if want := `points="100.0,490.0 430.0,380.0 760.0,50.0 "`; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	if n := strings.Count(svg, "<circle"); n != 3 {
		t.Errorf("%d dots, want 3", n)
	}
}

// For schedules without a simple formula for the mean, the means agree with the means of many random walks.
func TestTable_meansAgreeWithRandomWalks(t *testing.T) {
	const walks, steps = 50_000, 30
	for name, schedule := range map[string]backoff.Schedule{
		"capped decorrelated": backoff.Cap(backoff.Decorrelated{}, 20*s),
		"capped late":         backoff.Cap(backoff.Decorrelated{}, 2*time.Hour),
		"tightly capped":      backoff.Cap(backoff.Decorrelated{}, 250*ms),
		"capped polynomial":   backoff.Cap(backoff.Polynomial{Spread: read.RailsSpread}, 20*s),
		"cap around full":     backoff.Cap(backoff.Full(nil), s),
	} {
		t.Run(name, func(t *testing.T) {
			total := make([]float64, steps)
			r := rand.New(rand.NewPCG(7, 0))
			for range walks {
				n := 0
				for wait := range backoff.Waits(schedule, r) {
					total[n] += wait.Seconds() / walks
					if n++; n == steps {
						break
					}
				}
			}
			rows := table{schedule: schedule, attempts: steps}.rows()
			for _, row := range rows {
				want, got := total[row.Attempt-1], row.Wait.Seconds()
				tolerance := 0.08 // of the walks, whose tails are long, and of the sampled runs
				if math.Abs(got-want) > tolerance*want {
					t.Errorf("attempt %d: mean %.4fs, want about %.4fs", row.Attempt, got, want)
				}
				if row.Wait < row.Min || row.Wait > row.Max {
					t.Errorf("attempt %d: mean %v outside of %v to %v", row.Attempt, row.Wait, row.Min, row.Max)
				}
			}
		})
	}
}

func TestDurations(t *testing.T) {
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
