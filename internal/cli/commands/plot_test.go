package commands

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// line returns a series of points with x = 1, 2, 3 ...
func line(name string, ys ...float64) Series {
	s := Series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, Point{X: float64(i + 1), Y: y})
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

func TestSVG(t *testing.T) {
	t.Parallel()
	seconds := Axis{Name: "time", Seconds: true}
	tests := []struct {
		name string
		plot Plot
		want []string
	}{
		{"one series", Plot{Title: "a < b & c", X: Axis{Name: "n"}, Series: []Series{line("", 10, 20, 30, 40)}},
			[]string{"a < b & c", "0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "0", "5", "10", "15", "20", "25", "30", "35", "40", "n"}},
		{"seconds, with a legend", Plot{Y: seconds, Series: []Series{line("x", 60, 200), line("y", 90, 300)}},
			[]string{"0", "0.5", "1", "1.5", "2", "0s", "1m", "2m", "3m", "4m", "5m", "time", "x", "y"}},
		{"far apart", Plot{Y: seconds, Series: []Series{line("x", 0, 1), line("y", 2, 1e6)}},
			[]string{"0", "0.5", "1", "1.5", "2", "1s", "10s", "1m40s", "16m40s", "2h47m", "1d4h", "11d14h", "time", "x", "y"}},
		{"all zero", Plot{Series: []Series{line("", 0)}},
			[]string{"0", "0.2", "0.4", "0.6", "0.8", "1", "0", "0.2", "0.4", "0.6", "0.8", "1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, texts(t, SVG(test.plot))); diff != "" {
				t.Errorf("texts (-want +have):\n%s", diff)
			}
		})
	}
}

// The axes end in the corners of the chart.
func TestSVG_positions(t *testing.T) {
	t.Parallel()
	svg := string(SVG(Plot{Series: []Series{{Points: []Point{{0, 0}, {5, 1}, {10, 4}}}}}))
	if want := `points="100.0,490.0 430.0,380.0 760.0,50.0 "`; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	if n := strings.Count(svg, "<circle"); n != 3 {
		t.Errorf("%d dots, want 3", n)
	}
}
