package term

import "github.com/fatih/color"

// A ColorMode sets when colours are used. The zero value means ColorAuto.
type ColorMode string

// The values of --color.
const (
	ColorAuto   ColorMode = "auto"   // on a terminal that is not dumb, unless NO_COLOR is set
	ColorAlways ColorMode = "always" // even in a pipe or with NO_COLOR
	ColorNever  ColorMode = "never"
)

// ColorModes returns the values of --color, in the order of the help.
func ColorModes() []ColorMode { return []ColorMode{ColorAuto, ColorAlways, ColorNever} }

// A Palette colours words by their meaning. The zero value does not colour them.
type Palette struct{ on bool }

// Palette returns the colours for s.Err in the mode m.
func (s *Streams) Palette(m ColorMode) Palette {
	wanted := s.ErrIsTerminal && !s.Dumb && !s.NoColor
	return Palette{on: m == ColorAlways || m != ColorNever && wanted}
}

// A Tone is a meaning that has a colour: a status or another word. An unknown word is faint.
type Tone string

// The tones.
const (
	Faint   Tone = ""
	Good    Tone = "SUCCESS"
	Pending Tone = "NOT_READY"
	Slow    Tone = "THROTTLED"
	Bad     Tone = "ERROR"
)

// Paint returns s in the colour of t, or s itself if colours are off or s is empty. Paint enables the colour
// explicitly: the global switch of the color package depends on stdout, but these words go to stderr.
func (p Palette) Paint(t Tone, s string) string {
	if !p.on || s == "" {
		return s
	}
	attributes := map[Tone][]color.Attribute{
		Faint: {color.Faint}, Good: {color.FgGreen}, Pending: {color.FgCyan}, Slow: {color.FgYellow}, Bad: {color.FgRed, color.Bold},
	}
	if attributes[t] == nil {
		t = Faint
	}
	c := color.New(attributes[t]...)
	c.EnableColor()
	return c.Sprint(s)
}
