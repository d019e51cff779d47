package chart

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// growth is a plot with a bit of everything.
func growth() Plot {
	doubling := Series{Name: "doubling"}
	steady := Series{Name: "steady"}
	for n := 1; n <= 10; n++ {
		doubling.Points = append(doubling.Points, Point{float64(n), math.Pow(2, float64(n))})
		steady.Points = append(steady.Points, Point{float64(n), 100 * float64(n)})
	}
	return Plot{
		Title:  "growth of waits",
		X:      Axis{Name: "attempt"},
		Y:      Axis{Name: "time", Unit: Seconds},
		Series: []Series{doubling, steady},
	}
}

func TestPlot_runs(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	s := Series{Points: []Point{{0, nan}, {1, 1}, {2, 0}, {3, inf}, {nan, 1}, {5, 5}, {6, 1e301}}}
	for name, tt := range map[string]struct {
		plot Plot
		want [][]Point
	}{
		"linear":      {Plot{}, [][]Point{{{1, 1}, {2, 0}}, {{5, 5}}}},
		"logarithmic": {Plot{LogY: true}, [][]Point{{{1, 1}}, {{5, 5}}}},
	} {
		if diff := cmp.Diff(tt.want, tt.plot.runs(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPlot_nothingToDraw(t *testing.T) {
	t.Parallel()
	for name, plot := range map[string]Plot{
		"empty":             {},
		"no points":         {Series: []Series{{}, {}}},
		"nothing finite":    {Series: []Series{{Points: []Point{{1, math.Inf(1)}}}}},
		"nothing but zeros": {LogY: true, Series: []Series{{Points: []Point{{1, 0}}}}},
	} {
		if _, ok := plot.layOut(5, 5); ok {
			t.Errorf("%s: has a frame, want none", name)
		}
	}
}

// Whatever the values and the room, each point has its place in the picture.
func FuzzPlot(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 80, 20, false, false)
	f.Add(0.0, 0.0, 0.0, 0.0, 0, 0, true, true)
	f.Add(-1e300, 1e300, 1e-300, 1e300, -5, 1000, true, false)
	f.Add(1.0, 1e299, 1.0, 1e-299, 10, 3, true, true)
	f.Add(1.0, math.NaN(), math.Inf(-1), 5e-324, 40, 10, false, true)
	f.Fuzz(func(t *testing.T, x0, y0, x1, y1 float64, width, height int, logY, seconds bool) {
		plot := Plot{LogY: logY, Series: []Series{{Points: []Point{{x0, y0}, {x1, y1}}}, {Points: []Point{{x1, y0}}}}}
		if seconds {
			plot.X.Unit, plot.Y.Unit = Seconds, Seconds
		}
		width, height = width%300, height%100
		text := plot.Terminal(width, height, false)
		frame, ok := plot.layOut(10, 8)
		if ok != (text != "") {
			t.Fatalf("can be drawn: %v, drawn: %q", ok, text)
		}
		if !ok {
			return
		}
		for _, s := range plot.Series {
			for _, run := range plot.runs(s) {
				for _, p := range run {
					x, y := frame.position(p)
					if !(x >= -1e-9 && x <= 1+1e-9 && y >= -1e-9 && y <= 1+1e-9) {
						t.Errorf("a point of %v is at %v, %v", run, x, y)
					}
				}
			}
		}
		if n := len(frame.x.ticks) + len(frame.y.ticks); n < 4 || n > 60 {
			t.Errorf("%d ticks", n)
		}
	})
}

func TestNeedsLog(t *testing.T) {
	t.Parallel()
	line := func(ys ...float64) Series {
		var s Series
		for i, y := range ys {
			s.Points = append(s.Points, Point{X: float64(i), Y: y})
		}
		return s
	}
	tests := []struct {
		name   string
		series []Series
		want   bool
	}{
		{"nothing", nil, false},
		{"one that grows", []Series{line(1, 1e9)}, false},
		{"side by side", []Series{line(1, 10), line(1, 2000)}, false},
		{"far apart", []Series{line(1, 10), line(1, 4000)}, true},
		{"one of them lost", []Series{line(1, 10), line(4000, math.Inf(1))}, true},
		{"all 0", []Series{line(0, 0), line(0, 7)}, false},
	}
	for _, tt := range tests {
		if have := NeedsLog(tt.series); have != tt.want {
			t.Errorf("%s: have %v, want %v", tt.name, have, tt.want)
		}
	}
}
