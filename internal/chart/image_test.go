package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gochart "github.com/wcharczuk/go-chart/v2"
)

func TestSVG(t *testing.T) {
	t.Parallel()
	plot := growth()
	plot.Title = `a "title" with <tags> & more`
	var b bytes.Buffer
	if err := SVG(&b, plot); err != nil {
		t.Fatal(err)
	}
	texts := svgTexts(t, &b)
	for _, want := range []string{plot.Title, "attempt", "time", "doubling", "steady", "0s", "20m", "10"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q among %q", want, texts)
		}
	}
}

// svgTexts returns the texts of an SVG document, and fails if it is none.
func svgTexts(t *testing.T, r io.Reader) []string {
	t.Helper()
	var doc struct {
		XMLName xml.Name
		Texts   []string `xml:"text"`
	}
	if err := xml.NewDecoder(r).Decode(&doc); err != nil {
		t.Fatalf("read SVG: %v", err)
	}
	if doc.XMLName.Local != "svg" {
		t.Fatalf("document is <%s>, want <svg>", doc.XMLName.Local)
	}
	return doc.Texts
}

// The same plot is the same picture, so that one that is kept under version
// control does not change without a reason.
func TestSVG_repeatable(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	if err := errors.Join(SVG(&a, growth()), SVG(&b, growth())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two pictures of one plot differ")
	}
}

func TestPlot_PNG(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := growth().PNG(&b); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := picture.Bounds(), image.Rect(0, 0, imageWidth, imageHeight); got != want {
		t.Errorf("bounds %v, want %v", got, want)
	}
	for i := range growth().Series {
		c := imageColor(i)
		if !contains(picture, color.RGBA{c.R, c.G, c.B, c.A}) {
			t.Errorf("line %d is not in the picture", i)
		}
	}
}

func contains(picture image.Image, want color.RGBA) bool {
	for y := range imageHeight {
		for x := range imageWidth {
			if color.RGBAModel.Convert(picture.At(x, y)) == want {
				return true
			}
		}
	}
	return false
}

func TestPlot_image_nothingToDraw(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := SVG(&b, Plot{Title: "empty"}); !errors.Is(err, ErrNothingToDraw) {
		t.Errorf("error %v, want %v", err, ErrNothingToDraw)
	}
	if b.Len() > 0 {
		t.Errorf("wrote %q", b.String())
	}
}

func TestPlot_image_writeError(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for name, draw := range map[string]func(io.Writer) error{"SVG": func(w io.Writer) error { return SVG(w, growth()) }, "PNG": growth().PNG} {
		if err := draw(failing{full}); !errors.Is(err, full) {
			t.Errorf("%s: error %v, want %v", name, err, full)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Many points make a picture no larger than some.
func TestSVG_manyPoints(t *testing.T) {
	t.Parallel()
	var s Series
	for i := range 200_000 {
		s.Points = append(s.Points, Point{float64(i), float64(i)})
	}
	var b strings.Builder
	if err := SVG(&b, Plot{Series: []Series{s}}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 100_000 {
		t.Errorf("%d bytes", b.Len())
	}
	frame, _ := Plot{Series: []Series{s}}.layOut(10, 8)
	line := frame.lines(s, imageColor(0))[0].(gochart.ContinuousSeries)
	last, _ := frame.position(s.Points[len(s.Points)-1])
	if x := line.XValues; len(x) != maxPoints || x[0] != 0 || x[len(x)-1] != last {
		t.Errorf("%d points from %v to %v, want %d from 0 to %v", len(x), x[0], x[len(x)-1], maxPoints, last)
	}
}

func TestSVG_several(t *testing.T) {
	t.Parallel()
	first, second := growth(), growth()
	first.Title, second.Title = "first", "second"
	var b bytes.Buffer
	if err := SVG(&b, first, Plot{Title: "empty"}, second); err != nil {
		t.Fatal(err)
	}
	type picture struct {
		Height int `xml:"height,attr"`
		Parts  []struct {
			Moved   string `xml:"transform,attr"`
			Picture struct {
				Height int      `xml:"height,attr"`
				Texts  []string `xml:"text"`
			} `xml:"svg"`
		} `xml:"g"`
	}
	var have picture
	if err := xml.Unmarshal(b.Bytes(), &have); err != nil {
		t.Fatal(err)
	}
	if have.Height != 2*imageHeight || len(have.Parts) != 2 {
		t.Fatalf("%d parts in %d pixels, want 2 in %d", len(have.Parts), have.Height, 2*imageHeight)
	}
	for i, want := range []struct{ moved, title string }{{"translate(0,0)", "first"}, {"translate(0,560)", "second"}} {
		part := have.Parts[i]
		if diff := cmp.Diff(want.moved, part.Moved); diff != "" {
			t.Errorf("place of part %d (-want +got):\n%s", i, diff)
		}
		if part.Picture.Height != imageHeight {
			t.Errorf("part %d is %d pixels high, want %d", i, part.Picture.Height, imageHeight)
		}
		if !slices.Contains(part.Picture.Texts, want.title) {
			t.Errorf("no %q among the texts %q", want.title, part.Picture.Texts)
		}
	}
}

func TestSVG_several_fails(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := SVG(&b, Plot{}, Plot{}); !errors.Is(err, ErrNothingToDraw) || b.Len() > 0 {
		t.Errorf("error %v and %d bytes, want %v and none", err, b.Len(), ErrNothingToDraw)
	}
	full := errors.New("disk full")
	if err := SVG(failing{full}, growth()); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}
