// Package term provides the standard streams of the process and information about its terminal: which streams are
// terminals, how wide the terminal is, and whether to use colors. It also sanitizes untrusted text, such as
// responses, before poll shows the text.
//
// The files:
//
//	streams.go          the streams and the size of the terminal; the color of each status
//	streams_unix.go     closed streams, /dev/null and background jobs on Unix
//	streams_windows.go  the same on Windows; escape sequences of its console
//	text.go             sanitized text; the width, cut and wrap of lines
package term

import (
	"io"
	"math"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// Streams holds the standard streams of the process and their properties. The function [System] returns them.
type Streams struct {
	In  io.Reader
	Out io.Writer // for the result only
	Err io.Writer // for everything except the result

	InIsTerminal, OutIsTerminal, ErrIsTerminal bool

	// OutClosed is true if stdout is closed, or is not open for writing. OutNull is true if stdout is /dev/null,
	// open for both reading and writing. If stdout is closed, the Go runtime opens /dev/null in this way. Some
	// callers that do not need the result do the same.
	OutClosed, OutNull bool

	Dumb    bool // whether the terminal cannot redraw lines (TERM=dumb)
	Unicode bool // whether the terminal shows UTF-8, according to the locale
	NoColor bool // whether the environment variable NO_COLOR is set

	// Width and OutWidth return the current width, in columns, of the terminals of Err and Out. Height returns the
	// height, in rows, of Err's terminal. All three return 0 if the stream is not a terminal, or if the size is
	// unknown.
	Width, OutWidth, Height func() int
	// Foreground reports whether the process may currently draw on Err's terminal. It returns false while the
	// process is a background job of a shell.
	Foreground func() bool
	// CloseOut closes stdout. Some file systems report lost data only at the close.
	CloseOut func() error
	// Wrote is called each time stdout has accepted a piece of output.
	Wrote func()
}

// System returns the streams of the process. It calls getenv, which is usually [os.Getenv], to read TERM, NO_COLOR
// and the locale variables.
func System(getenv func(string) string) *Streams {
	outFd, errFd := int(os.Stdout.Fd()), int(os.Stderr.Fd())
	takeSequences(os.Stderr)
	closed, isNull := access(os.Stdout)
	s := &Streams{
		OutClosed:     closed,
		OutNull:       isNull,
		In:            os.Stdin,
		Err:           os.Stderr,
		InIsTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutIsTerminal: term.IsTerminal(outFd),
		ErrIsTerminal: term.IsTerminal(errFd),
		Dumb:          getenv("TERM") == "dumb",
		Unicode:       unicodeLocale(getenv),
		NoColor:       getenv("NO_COLOR") != "",
		Width:         func() int { return size(errFd, 0) },
		OutWidth:      func() int { return size(outFd, 0) },
		Height:        func() int { return size(errFd, 1) },
		Foreground:    func() bool { return inForeground(errFd) },
		CloseOut:      os.Stdout.Close,
		Wrote:         func() {},
	}
	s.Out = newOutput(os.Stdout, func() { s.Wrote() })
	return s
}

// size returns the width in columns of the terminal fd if the parameter which is 0, and the height in rows if it is
// 1. It returns 0 if fd is not a terminal.
func size(fd, which int) int {
	width, height, _ := term.GetSize(fd) // after an error, width and height are 0
	return []int{width, height}[which]
}

// unicodeLocale reports whether the locale uses UTF-8. It checks the variables in the order that POSIX defines,
// and uses the first that is not empty. If all are empty, it returns true on Windows and false on other systems.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return os.PathSeparator == '\\'
}

// An output writes to stdout in pieces of 4 KiB, and calls wrote after each piece: when a write returns, the
// reader of a full pipe has read something. A pipe accepts a piece of this size atomically. An output writes to a
// regular file in one piece, because several processes may append to the same file.
type output struct {
	w     io.Writer
	piece int
	wrote func() // called after each write, even a failed write
}

// newOutput returns an output that writes to f, and calls wrote after each piece.
func newOutput(f *os.File, wrote func()) *output {
	o := &output{w: f, piece: 4 << 10, wrote: wrote}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.piece = math.MaxInt
	}
	return o
}

// Write writes p in pieces. It stops at the first error.
func (o *output) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var m int
		m, err = o.w.Write(p[n : n+min(o.piece, len(p)-n)])
		n += m
		o.wrote()
	}
	return n, err
}

// A ColorMode determines when colors are used. The zero value means ColorAuto.
type ColorMode string

// The values of --color.
const (
	ColorAuto   ColorMode = "auto"   // colors on a terminal that is not dumb, unless NO_COLOR is set
	ColorAlways ColorMode = "always" // colors even in a pipe and with NO_COLOR
	ColorNever  ColorMode = "never"
)

// ColorModes returns all values of --color, in the order of the help text.
func ColorModes() []ColorMode { return []ColorMode{ColorAuto, ColorAlways, ColorNever} }

// A Palette colors words according to their meaning. The zero value does not use colors.
type Palette struct{ on bool }

// Palette returns the palette for text on s.Err. m is the value of --color.
func (s *Streams) Palette(m ColorMode) Palette {
	wanted := s.ErrIsTerminal && !s.Dumb && !s.NoColor
	return Palette{on: m == ColorAlways || m != ColorNever && wanted}
}

// A Tone is a meaning that has a color: a status or another word. A word without an assigned color is faint.
type Tone string

// The tones.
const (
	Faint   Tone = ""
	Good    Tone = "SUCCESS"
	Pending Tone = "NOT_READY"
	Slow    Tone = "THROTTLED"
	Bad     Tone = "ERROR"
)

// Paint returns s in the color of t. It returns s unchanged if the palette has no colors or if s is empty. Paint
// ignores the global switch of the color package, because that switch depends on stdout, but poll writes colored
// words to stderr.
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
