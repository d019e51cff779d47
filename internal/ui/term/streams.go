// Package term provides the streams and the terminal of the process. It reports which streams are terminals, how
// wide the terminal is, and which colours to use. It also sanitizes text from outside before the text is shown.
package term

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// Streams are the standard streams of the process, with their properties. [System] and [Buffers] create them.
type Streams struct {
	In  io.Reader
	Out io.Writer // only the result
	Err io.Writer // everything except the result

	InIsTerminal, OutIsTerminal, ErrIsTerminal bool

	// OutClosed is true if stdout is closed, or not open for writing. OutNull is true if stdout is /dev/null and
	// open for both reading and writing. The runtime of Go opens /dev/null in this way if stdout is closed, but
	// some callers that want no results do the same.
	OutClosed, OutNull bool

	Dumb    bool // TERM is dumb: the terminal cannot redraw a line
	Unicode bool // the terminal shows UTF-8, as the locale promises
	NoColor bool // the environment variable NO_COLOR is set

	// Width and OutWidth return the current number of columns of the terminals of Err and Out. Height returns
	// the number of rows of the terminal of Err. They return 0 if there is no terminal, or if its size is
	// unknown.
	Width, OutWidth, Height func() int
	// Foreground reports whether the process may draw on the terminal of Err now. It returns false while the
	// process is a background job of a shell.
	Foreground func() bool
	// CloseOut closes stdout. Some file systems report only then that data was lost.
	CloseOut func() error
	// Wrote is called after each piece of output that stdout has accepted.
	Wrote func()
}

// System returns the streams of the process. getenv, usually [os.Getenv], is called for TERM, NO_COLOR and the
// variables of the locale.
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

// Buffers returns streams for a test. in is the content of stdin; out and err collect the output. The streams
// are not terminals.
func Buffers(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	none := func() int { return 0 }
	return &Streams{In: strings.NewReader(in), Out: out, Err: err, Unicode: true, Width: none, OutWidth: none, Height: none,
		Foreground: func() bool { return true },
		CloseOut:   func() error { return nil }}, out, err
}

// size returns the columns of the terminal fd if which is 0, and its rows if which is 1. It returns 0 if fd is
// not a terminal.
func size(fd, which int) int {
	width, height, _ := term.GetSize(fd) // both are 0 on an error
	return []int{width, height}[which]
}

// unicodeLocale reports whether the locale uses UTF-8. The first variable that is set counts, in the order that
// POSIX defines. Without a variable, the result is true on Windows and false elsewhere.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return os.PathSeparator == '\\'
}

// An output writes to stdout. It writes 4 KiB at a time, and then calls wrote: a reader has taken this piece. A
// pipe takes such a piece atomically. A regular file gets all at once, since several processes may append to the
// file.
type output struct {
	w     io.Writer
	piece int
	wrote func() // called after each piece
}

// newOutput returns an output to f that calls wrote after each piece.
func newOutput(f *os.File, wrote func()) *output {
	o := &output{w: f, piece: 4 << 10, wrote: wrote}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.piece = math.MaxInt
	}
	return o
}

// Write writes all of p, unless the stream returns an error.
func (o *output) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var m int
		m, err = o.w.Write(p[n : n+min(o.piece, len(p)-n)])
		n += m
		o.wrote()
	}
	return n, err
}

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
