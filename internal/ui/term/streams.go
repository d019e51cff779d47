// Package term is about the streams and terminal of the process: which streams are
// terminals, how wide the terminal is, which colours to use, and how text from
// outside is sanitized before it is shown.
package term

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/term"
)

// Streams are the standard streams of the process, with their properties. [System]
// and [Buffers] make them.
type Streams struct {
	In  io.Reader
	Out io.Writer // the result and nothing else
	Err io.Writer // everything else

	InIsTerminal, OutIsTerminal, ErrIsTerminal bool

	// OutClosed is true if stdout is closed, or not open for writing. OutNull is true if it is
	// /dev/null and open for reading, too: Go's runtime opens that in place of a stdout that is
	// closed, but so do some callers that want no results.
	OutClosed, OutNull bool

	Dumb    bool // TERM=dumb: nothing can be redrawn
	Unicode bool // the terminal shows UTF-8, by the locale
	NoColor bool // the environment turns colours off

	// Width and OutWidth return the current width of Err's and Out's terminal in
	// columns, and Height that of Err's in rows, 0 if there is none or it is unknown.
	Width, OutWidth, Height func() int
	// Foreground reports whether the process may draw on Err's terminal now: not as
	// a shell's background job. Without job control it always may.
	Foreground func() bool
	// CloseOut closes stdout. Some file systems report only then that data is lost.
	CloseOut func() error
	// Wrote is called when somebody has taken a piece of what is written to stdout.
	Wrote func()
}

// System returns the streams of the process. getenv, usually [os.Getenv], is called
// for TERM, NO_COLOR and the locale.
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

// Buffers returns streams for a test: in is read as stdin; out and err collect what
// is written. None of them is a terminal.
func Buffers(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	none := func() int { return 0 }
	return &Streams{In: strings.NewReader(in), Out: out, Err: err, Unicode: true, Width: none, OutWidth: none, Height: none,
		Foreground: func() bool { return true },
		CloseOut:   func() error { return nil }}, out, err
}

// size returns the columns or, with 1, the rows of a terminal, 0 if there is none.
func size(fd, which int) int {
	width, height, _ := term.GetSize(fd) // 0 on an error
	return []int{width, height}[which]
}

// unicodeLocale reports whether the locale, by POSIX's order of variables, uses
// UTF-8. Windows has no such variables and shows UTF-8.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return os.PathSeparator == '\\'
}

// An output is stdout. It writes a piece at a time to anything but a regular file, so that it
// shows whether anyone reads. Pipes write a piece atomically. A file gets all at once, since
// several processes may append to it.
type output struct {
	w     io.Writer
	piece int
	wrote func() // is called after each piece
}

func newOutput(f *os.File, wrote func()) *output {
	o := &output{w: f, piece: 4 << 10, wrote: wrote}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.piece = math.MaxInt
	}
	return o
}

// Write writes all of p.
func (o *output) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var m int
		m, err = o.w.Write(p[n : n+min(o.piece, len(p)-n)])
		n += m
		o.wrote()
	}
	return n, err
}
