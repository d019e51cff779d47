package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"
)

// A ColorMode says when colours are used.
type ColorMode uint8

// The values of --color.
const (
	ColorAuto   ColorMode = iota // on a terminal that is not dumb, unless NO_COLOR is set
	ColorAlways                  // also in a pipe, also with NO_COLOR
	ColorNever
)

// ColorModeNames returns the words of the modes, in their order.
func ColorModeNames() []string { return []string{"auto", "always", "never"} }

// ParseColorMode reads one of [ColorModeNames].
func ParseColorMode(s string) (ColorMode, error) {
	i := slices.Index(ColorModeNames(), s)
	if i < 0 {
		return 0, fmt.Errorf("color %q: want %s", s, strings.Join(ColorModeNames(), ", "))
	}
	return ColorMode(i), nil
}

// A Palette colours words by what they mean, or leaves them plain. Whether it
// does is decided once, when it is made; the zero value leaves them plain.
type Palette struct{ on bool }

// Palette returns the colours to be used on Err.
func (s *Streams) Palette(m ColorMode) Palette {
	switch m {
	case ColorAlways:
		return Palette{on: true}
	case ColorNever:
		return Palette{}
	}
	return Palette{on: s.ErrIsTerminal && !s.Dumb && !s.NoColor}
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

// paint asks every colour explicitly for its escape codes: the package's own
// global looks at stdout, and these words go to stderr.
func (p Palette) paint(s string, attrs ...color.Attribute) string {
	if !p.on || s == "" {
		return s
	}
	c := color.New(attrs...)
	c.EnableColor()
	return c.Sprint(s)
}
