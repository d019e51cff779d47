package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/pollcli/poll/internal/ui/term"
)

// Screen returns the plots as text to print below a table, fitted to the terminal
// on standard output. It is empty if that is not a terminal.
func Screen(s *term.Streams, plots ...Plot) string {
	if !s.OutIsTerminal {
		return ""
	}
	const mostColumns, rows = 100, 15
	width := s.OutWidth()
	if width <= 0 {
		width = 80
	}
	var b strings.Builder
	for _, p := range plots {
		if text := p.Terminal(min(width, mostColumns), rows, !s.Dumb && !s.NoColor); text != "" {
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
// by their characters. The text is empty if there is nothing to draw.
func (p Plot) Terminal(width, height int, color bool) string {
	height = max(height, 3)
	f, ok := p.layOut(max(2, min(width/10, 10)), max(2, height/3))
	if !ok {
		return ""
	}
	margin := len("  |")
	for _, t := range f.y.ticks {
		margin = max(margin, len("  |")+term.Width(t.label))
	}
	lastLabel := f.x.ticks[len(f.x.ticks)-1].label // half of which extends beyond the axis
	columns := max(width-margin-(term.Width(lastLabel)+1)/2, 10)

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
	var x0, y0 float64
	for i, p := range run {
		x, y := f.position(p)
		x, y = x*float64(len(line)-2), y*float64(height)
		if i == 0 {
			x0, y0 = x, y
		}
		for c := math.Ceil(x0); c <= x && x > x0; c++ {
			line[int(c)] = y0 + (y-y0)*(c-x0)/(x-x0)
		}
		line[int(math.Round(x))] = y
		x0, y0 = x, y
	}
}

func (f frame) options(height int, color bool) []asciigraph.Option {
	labels := map[int]string{} // most rows have none
	for _, t := range f.y.ticks {
		labels[int(math.Round(t.at*float64(height)))] = t.label
	}
	options := []asciigraph.Option{
		asciigraph.Height(height),
		asciigraph.LowerBound(0),
		asciigraph.UpperBound(float64(height)),
		asciigraph.YAxisValueFormatter(func(row float64) string { return labels[int(math.Round(row))] }),
		asciigraph.XAxisRange(0, float64(len(f.x.ticks)-1)),
		asciigraph.XAxisTickCount(len(f.x.ticks)),
		asciigraph.XAxisValueFormatter(func(i float64) string { return f.x.ticks[int(math.Round(i))].label }),
	}
	if len(f.Series) < 2 {
		return options
	}
	var colors []asciigraph.AnsiColor
	var marks []asciigraph.CharSet
	for i := range f.Series {
		colors, marks = append(colors, terminalColor(i)), append(marks, asciigraph.CreateCharSet(mark(i)))
	}
	if color {
		return append(options, asciigraph.SeriesColors(colors...))
	}
	return append(options, asciigraph.SeriesChars(marks...))
}

// captions returns the lines below the chart, which name the axes and the series.
func (f frame) captions(width int, color bool) []string {
	axes := f.X.Name + f.Y.Name
	if f.X.Name != "" && f.Y.Name != "" {
		axes = f.Y.Name + " (up) against " + f.X.Name + " (right)"
	}
	var lines []string
	if axes != "" {
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
		entry := mark(i) + " " + name
		if color {
			entry = terminalColor(i).String() + "■" + asciigraph.Default.String() + " " + name
		}
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

// mark returns the character for series i without colours.
func mark(i int) string {
	const marks = "*o+x#@"
	return string(marks[i%len(marks)])
}

// terminalColor returns the colour of series i, of a terminal's 256. They are
// distinguishable on dark and light backgrounds.
func terminalColor(i int) asciigraph.AnsiColor {
	colors := []asciigraph.AnsiColor{33, 208, 35, 169, 178, 44}
	return colors[i%len(colors)]
}

// Histogram returns lines of text that show how many of the durations fall into
// each of a dozen or so intervals. durations is in seconds, sorted and not empty;
// label formats an interval. Bars are ASCII unless unicode is set.
func Histogram(durations []float64, label func(from, to float64) string, unicode bool) string {
	const rows, shortestStep = 12, 1e-3
	low, high := durations[0], durations[len(durations)-1]
	step := Seconds.step(max((high-low)/rows, shortestStep))
	first := math.Floor(low / step)
	counts := make([]int, int(math.Floor(high/step)-first)+1)
	for _, d := range durations {
		counts[min(int(math.Floor(d/step)-first), len(counts)-1)]++
	}
	block := "#"
	if unicode {
		block = "█"
	}
	scale := min(1, float64(histogramWidth)/float64(slices.Max(counts)))
	var b strings.Builder
	for i, count := range counts {
		from := (first + float64(i)) * step
		line := fmt.Sprintf("%20s  %s", label(from, from+step), strings.Repeat(block, int(math.Ceil(float64(count)*scale))))
		if count > 0 {
			line += fmt.Sprintf(" %d", count)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// histogramWidth is the width of the longest bar, in columns.
const histogramWidth = 50
