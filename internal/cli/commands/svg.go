package commands

import (
	"bytes"
	"fmt"
	"html"
)

// The layout of a chart in pixels. The margins hold the labels, and the right margin the legend.
const (
	width, height          = 1000, 560
	left, right            = 100, 760
	top, bottom            = 50, 490
	legendLine, legendStep = 30, 24

	maxDots = 40 // more of them merge
)

// SVG returns the plots as one SVG image, in a vertical stack.
func SVG(plots ...Plot) []byte {
	var b picture
	b.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"`, width, len(plots)*height)
	b.printf(" font-family=\"sans-serif\" font-size=\"14\" fill=\"#333\">\n")
	b.printf("<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n")
	for i, p := range plots {
		b.printf("<g transform=\"translate(0,%d)\">\n", i*height)
		b.draw(p)
		b.printf("</g>\n")
	}
	b.printf("</svg>\n")
	return b.Bytes()
}

// A picture builds an SVG image.
type picture struct{ bytes.Buffer }

func (b *picture) printf(format string, args ...any) { fmt.Fprintf(b, format, args...) }

// text writes a text with attributes.
func (b *picture) text(x, y float64, text, attributes string) {
	b.printf("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, attributes, html.EscapeString(text))
}

func (b *picture) line(x1, y1, x2, y2 float64, color string, wide int) {
	b.printf("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%d\"/>\n", x1, y1, x2, y2, color, wide)
}

func (b *picture) draw(p Plot) {
	const middle = (left + right) / 2
	x, y := p.scales()
	b.text(middle, top-20, p.Title, `font-size="16" text-anchor="middle"`)
	b.axes(x, y)
	b.text(middle, bottom+45, p.X.Name, `text-anchor="middle"`)
	b.text(0, 0, p.Y.Name, fmt.Sprintf(`text-anchor="middle" transform="translate(25,%d) rotate(-90)"`, (top+bottom)/2))
	for i, s := range p.Series {
		b.series(s, x, y, color(i))
		if len(p.Series) > 1 {
			at := float64(top + 10 + i*legendStep)
			b.line(right+15, at, right+15+legendLine, at, color(i), 3)
			b.text(right+15+legendLine+8, at+5, s.Name, "")
		}
	}
}

// axes writes the axes, their ticks, and lines across the chart.
func (b *picture) axes(x, y scale) {
	for _, v := range x.ticks() {
		at := acrossOf(x, v)
		b.line(at, top, at, bottom, "#ddd", 1)
		b.text(at, bottom+20, x.text(v), `text-anchor="middle" font-size="12"`)
	}
	for _, v := range y.ticks() {
		at := downOf(y, v)
		b.line(left, at, right, at, "#ddd", 1)
		b.text(left-8, at+4, y.text(v), `text-anchor="end" font-size="12"`)
	}
	b.line(left, bottom, right, bottom, "#333", 1)
	b.line(left, top, left, bottom, "#333", 1)
}

func acrossOf(x scale, v float64) float64 { return left + x.position(v)*(right-left) }
func downOf(y scale, v float64) float64   { return bottom - y.position(v)*(bottom-top) }

// series writes the line of a series, with dots if they are few.
func (b *picture) series(s Series, x, y scale, color string) {
	var dots picture
	b.printf(`<polyline fill="none" stroke="%s" stroke-width="2" points="`, color)
	for _, p := range s.Points {
		if y.position(p.Y) >= 0 {
			b.printf("%.1f,%.1f ", acrossOf(x, p.X), downOf(y, p.Y))
			dots.printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", acrossOf(x, p.X), downOf(y, p.Y), color)
		}
	}
	b.printf("\"/>\n")
	if len(s.Points) <= maxDots {
		b.Write(dots.Bytes())
	}
}

// color returns the color of series i. Color-blind readers can distinguish the colors (Okabe and Ito, "Color
// Universal Design").
func color(i int) string {
	colors := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
	return colors[i%len(colors)]
}
