package cli

import (
	"math"
	"strings"

	"github.com/pollcli/poll/internal/chart"
)

// The size of a chart on a terminal.
const (
	sketchWidth  = 100 // at most
	sketchHeight = 15
)

// sketch draws plots below a table, if stdout is a terminal.
func (in *invocation) sketch(plots ...chart.Plot) string {
	s := in.Streams
	if !s.OutIsTerminal {
		return ""
	}
	width := s.OutWidth()
	if width <= 0 {
		width = 80
	}
	var b strings.Builder
	for _, p := range plots {
		if text := p.Terminal(min(width, sketchWidth), sketchHeight, !s.Dumb && !s.NoColor); text != "" {
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

// spanned reports whether values differ so much that only a logarithmic axis
// shows them all.
func spanned(series []chart.Series) bool {
	const much = 300
	least, most := math.Inf(1), 0.0
	for _, s := range series {
		last := 0.0
		for _, p := range s.Points {
			if p.Y > 0 && !math.IsInf(p.Y, 0) {
				last = p.Y
			}
		}
		if last > 0 {
			least, most = min(least, last), max(most, last)
		}
	}
	return most > much*least
}
