package commands

import (
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/pollcli/poll/internal/ui/term"
)

// Screen returns the plots as text to print below a table, fitted to the terminal on standard output. It
// returns "" if standard output is not a terminal.
func Screen(s *term.Streams, plots ...Plot) string {
	if !s.OutIsTerminal {
		return ""
	}
	const maxColumns = 100
	columns := s.OutWidth()
	if columns <= 0 {
		columns = 80
	}
	var text string
	for _, p := range plots {
		text += p.terminal(min(columns, maxColumns))
	}
	if s.Unicode {
		return text
	}
	return strings.NewReplacer(
		"┤", "|", "│", "|", "┼", "+", "└", "+", "┬", "+", "─", "-", "╶", "-", "╴", "-",
		"╭", ".", "╮", ".", "╰", "'", "╯", "'", "µ", "u",
	).Replace(text)
}

// terminal returns the plot as lines of text, or "" if the plot has no points.
func (p Plot) terminal(columns int) string {
	if !slices.ContainsFunc(p.Series, func(s Series) bool { return len(s.Points) > 0 }) {
		return ""
	}
	x, y := p.scales()
	const rows, labels, ticks = 12, 14, 5
	columns = max(columns-labels, 20)
	caption := []string{p.Y.Name + " by " + p.X.Name}
	var lines [][]float64
	var marks []asciigraph.CharSet
	for i, s := range p.Series {
		mark := string("*o+x#@"[i%6])
		lines, marks = append(lines, s.heights(x, y, columns)), append(marks, asciigraph.CreateCharSet(mark))
		if len(p.Series) > 1 {
			caption = append(caption, mark+" "+s.Name)
		}
	}
	options := []asciigraph.Option{
		asciigraph.Height(rows), asciigraph.LowerBound(0), asciigraph.UpperBound(1),
		asciigraph.YAxisValueFormatter(func(at float64) string { return y.text(y.value(at)) }),
		asciigraph.XAxisRange(0, 1), asciigraph.XAxisTickCount(ticks),
		asciigraph.XAxisValueFormatter(func(at float64) string { return x.text(x.value(at)) }),
		asciigraph.Caption(strings.Join(caption, "   ")),
	}
	if len(lines) > 1 {
		options = append(options, asciigraph.SeriesChars(marks...))
	}
	return "\n" + p.Title + "\n" + asciigraph.PlotMany(lines, options...) + "\n"
}

// heights returns the height of the line in each column, NaN for a column without a line.
func (s Series) heights(x, y scale, columns int) []float64 {
	line := make([]float64, columns)
	i := 0
	for c := range line {
		line[c] = math.NaN()
		at := x.value(float64(c) / float64(columns-1))
		for i+1 < len(s.Points) && s.Points[i+1].X < at {
			i++
		}
		if i+1 >= len(s.Points) || at < s.Points[i].X {
			continue
		}
		from, to := s.Points[i], s.Points[i+1]
		low, high := y.position(from.Y), y.position(to.Y)
		if height := low + (high-low)*(at-from.X)/(to.X-from.X); height >= 0 {
			line[c] = height
		}
	}
	return line
}
