package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/pollcli/poll/internal/term"
)

// The size of a plot below a table.
const (
	screenWidth  = 100 // at most
	screenHeight = 15
)

// Screen returns the plots as text to print below a table, as wide and as plain
// as standard output needs them. It is empty if that is not a terminal.
func Screen(s *term.Streams, plots ...Plot) string {
	if !s.OutIsTerminal {
		return ""
	}
	width := s.OutWidth()
	if width <= 0 {
		width = 80
	}
	var b strings.Builder
	for _, p := range plots {
		if text := p.Terminal(min(width, screenWidth), screenHeight, !s.Dumb && !s.NoColor); text != "" {
			b.WriteString("\n" + text)
		}
	}
	if s.Unicode {
		return b.String()
	}
	return strings.NewReplacer(
		"┤", "|", "│", "|", "┼", "+", "└", "+", "┬", "+", "─", "-", "╶", "-", "╴", "-",
		"╭", ".", "╮", ".", "╰", "'", "╯", "'", "■", "#", "…", "~", "µ", "u",
	).Replace(b.String())
}

// Terminal returns the plot as about height lines of text, if possible none wider
// than width columns. The series differ by ANSI colours if color is set, otherwise
// by the characters they are drawn with. The text is empty if there is nothing to
// draw.
func (p Plot) Terminal(width, height int, color bool) string {
	height = max(height, 3)
	f, ok := p.layOut(max(2, min(width/10, 10)), max(2, height/3))
	if !ok {
		return ""
	}
	margin := f.y.widest() + len("  |")
	columns := max(width-margin-f.x.overhang(), 10)

	var b strings.Builder
	if p.Title != "" {
		b.WriteString(term.Cut(p.Title, width, "…") + "\n\n")
	}
	b.WriteString(asciigraph.PlotMany(f.resample(columns, height), f.options(height, color)...))
	b.WriteString("\n")
	for _, line := range f.captions(width-margin, color) {
		b.WriteString(strings.Repeat(" ", margin) + line + "\n")
	}
	return b.String()
}

// resample returns the height of each series in each column. The library does not
// draw the last column.
func (f frame) resample(columns, height int) [][]float64 {
	var data [][]float64
	for _, s := range f.Series {
		line := slices.Repeat([]float64{math.NaN()}, columns)
		for _, run := range f.runs(s) {
			f.drawRun(line, run, height)
		}
		data = append(data, line)
	}
	return data
}

// drawRun sets those columns of line that the run passes through.
func (f frame) drawRun(line []float64, run []Point, height int) {
	last := float64(len(line) - 2)
	var x0, y0 float64
	first := true
	for x, y := range f.positions(run) {
		x, y = x*last, y*float64(height)
		if first {
			x0, y0, first = x, y, false
		}
		for c := math.Ceil(x0); c <= x && x > x0; c++ {
			line[int(c)] = y0 + (y-y0)*(c-x0)/(x-x0)
		}
		line[int(math.Round(x))] = y
		x0, y0 = x, y
	}
}

func (f frame) options(height int, color bool) []asciigraph.Option {
	options := []asciigraph.Option{
		asciigraph.Height(height),
		asciigraph.LowerBound(0),
		asciigraph.UpperBound(float64(height)),
		asciigraph.YAxisValueFormatter(f.y.labelAt(height)),
		asciigraph.XAxisRange(0, float64(len(f.x.ticks)-1)),
		asciigraph.XAxisTickCount(len(f.x.ticks)),
		asciigraph.XAxisValueFormatter(func(i float64) string { return f.x.ticks[int(math.Round(i))].label }),
	}
	switch {
	case len(f.Series) == 1:
	case color:
		options = append(options, asciigraph.SeriesColors(colors(len(f.Series))...))
	default:
		var marks []asciigraph.CharSet
		for i := range f.Series {
			marks = append(marks, asciigraph.CreateCharSet(mark(i)))
		}
		options = append(options, asciigraph.SeriesChars(marks...))
	}
	return options
}

// labelAt returns a function from rows to labels. Most rows have none.
func (s scale) labelAt(height int) func(row float64) string {
	labels := map[int]string{}
	for _, t := range s.ticks {
		labels[int(math.Round(t.at*float64(height)))] = t.label
	}
	return func(row float64) string { return labels[int(math.Round(row))] }
}

// captions returns the lines below the picture, which name the axes and the series.
func (f frame) captions(width int, color bool) []string {
	var lines []string
	if axes := axes(f.X.Name, f.Y.Name); axes != "" {
		lines = append(lines, term.Cut(axes, width, "…"))
	}
	if len(f.Series) < 2 {
		return lines
	}
	const gap = "   "
	room := 0
	for i, s := range f.Series {
		name := term.Cut(s.Name, width-2, "…")
		needs := len(gap) + 2 + term.Width(name)
		entry := legend(i, color) + " " + name
		if needs > room {
			lines = append(lines, entry)
			room = width - needs + len(gap)
			continue
		}
		lines[len(lines)-1] += gap + entry
		room -= needs
	}
	return lines
}

// axes names the axes.
func axes(x, y string) string {
	switch {
	case x == "" || y == "":
		return x + y
	default:
		return y + " (up) against " + x + " (right)"
	}
}

func legend(i int, color bool) string {
	if !color {
		return mark(i)
	}
	return colors(i + 1)[i].String() + "■" + asciigraph.Default.String()
}

// mark returns the character that series i is drawn with if there are no colours.
func mark(i int) string {
	marks := []string{"*", "o", "+", "x", "#", "@"}
	return marks[i%len(marks)]
}

// colors returns n of the 256 terminal colours. They can be told apart on a dark
// and on a light background.
func colors(n int) []asciigraph.AnsiColor {
	palette := []asciigraph.AnsiColor{33, 208, 35, 169, 178, 44}
	var c []asciigraph.AnsiColor
	for i := range n {
		c = append(c, palette[i%len(palette)])
	}
	return c
}

// widest returns the width of the widest label.
func (s scale) widest() int {
	widest := 0
	for _, t := range s.ticks {
		widest = max(widest, term.Width(t.label))
	}
	return widest
}

// overhang returns how far the last label extends beyond the axis.
func (s scale) overhang() int {
	last := s.ticks[len(s.ticks)-1].label
	return (term.Width(last) + 1) / 2
}
