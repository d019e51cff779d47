package term

import "github.com/fatih/color"

// A ColorMode says when colours are used. The zero value is ColorAuto.
type ColorMode string

// The values of --color.
const (
	ColorAuto   ColorMode = "auto"   // on a terminal that is not dumb, unless NO_COLOR is set
	ColorAlways ColorMode = "always" // also in a pipe, also with NO_COLOR
	ColorNever  ColorMode = "never"
)

// ColorModes returns the modes, in their order.
func ColorModes() []ColorMode { return []ColorMode{ColorAuto, ColorAlways, ColorNever} }

// A Palette colours words by what they mean. The zero value leaves them plain.
type Palette struct{ on bool }

// Palette returns the colours to be used on Err.
func (s *Streams) Palette(m ColorMode) Palette {
	wanted := s.ErrIsTerminal && !s.Dumb && !s.NoColor
	return Palette{on: m == ColorAlways || m != ColorNever && wanted}
}

// Good colours what has succeeded.
func (p Palette) Good(s string) string { return p.paint(s, color.FgGreen) }

// Pending colours what is not ready yet.
func (p Palette) Pending(s string) string { return p.paint(s, color.FgCyan) }

// Slow colours what has to slow down.
func (p Palette) Slow(s string) string { return p.paint(s, color.FgYellow) }

// Bad colours what has failed.
func (p Palette) Bad(s string) string { return p.paint(s, color.FgRed, color.Bold) }

// Faint colours what may be overlooked.
func (p Palette) Faint(s string) string { return p.paint(s, color.Faint) }

// paint asks every colour explicitly for its escape codes: the library's own
// global switch looks at stdout, and these words go to stderr.
func (p Palette) paint(s string, attrs ...color.Attribute) string {
	if !p.on || s == "" {
		return s
	}
	c := color.New(attrs...)
	c.EnableColor()
	return c.Sprint(s)
}
