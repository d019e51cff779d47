// Package term is about the streams and terminal of the process: which streams are
// terminals, how wide the terminal is, which colours to use, and how text from
// outside is sanitized before it is shown.
package term

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-colorable"
	"golang.org/x/term"
)

// Streams are the standard streams of the process, with their properties. [System]
// and [Buffers] make them.
type Streams struct {
	In  io.Reader
	Out io.Writer // the result and nothing else
	Err io.Writer // everything else

	InIsTerminal, OutIsTerminal, ErrIsTerminal bool

	Dumb    bool // TERM=dumb: nothing can be redrawn
	Unicode bool // the locale says that the terminal shows UTF-8
	NoColor bool // the environment asks for no colours

	// Width and OutWidth return the current width of Err's and Out's terminal in
	// columns, and Height that of Err's in rows, 0 if there is none or it is unknown.
	Width, OutWidth, Height func() int
	// Foreground reports whether the process may draw on Err's terminal now: not as
	// a shell's background job. Without job control it always may.
	Foreground func() bool
	// OnSuspend calls f whenever the terminal asks the process to stop (Ctrl-Z), until
	// release is called. f calls stop, which returns when the process goes on.
	OnSuspend func(f func(stop func())) (release func())
	// CloseOut closes stdout. Some file systems report only then that data is lost.
	CloseOut func() error
	// Delivered changes whenever more of stdout has been read.
	Delivered func() int64
}

// System returns the streams of the process. getenv, usually [os.Getenv], is called
// for TERM, NO_COLOR and the locale.
func System(getenv func(string) string) *Streams {
	outFd, errFd := int(os.Stdout.Fd()), int(os.Stderr.Fd())
	out := &output{w: os.Stdout, piece: maxPiece}
	takeSequences(os.Stderr)
	return &Streams{
		In:  os.Stdin,
		Out: out,
		// A console before Windows 10 needs escape sequences translated.
		Err:           &output{w: colorable.NewColorable(os.Stderr)},
		InIsTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutIsTerminal: term.IsTerminal(outFd),
		ErrIsTerminal: term.IsTerminal(errFd),
		Dumb:          getenv("TERM") == "dumb",
		Unicode:       unicodeLocale(getenv),
		NoColor:       getenv("NO_COLOR") != "",
		Width:         func() int { return columns(errFd) },
		OutWidth:      func() int { return columns(outFd) },
		Height:        func() int { return rows(errFd) },
		Foreground:    func() bool { return inForeground(errFd) },
		OnSuspend:     onSuspend,
		CloseOut:      os.Stdout.Close,
		Delivered:     func() int64 { return out.written.Load() - int64(unread(outFd)) },
	}
}

// Buffers returns streams for a test: in is read as stdin; out and err collect what
// is written. None of them is a terminal.
func Buffers(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	none := func() int { return 0 }
	return &Streams{In: strings.NewReader(in), Out: out, Err: err, Unicode: true, Width: none, OutWidth: none, Height: none,
		Foreground: func() bool { return true },
		OnSuspend:  func(func(func())) func() { return func() {} },
		CloseOut:   func() error { return nil },
		Delivered:  func() int64 { return 0 }}, out, err
}

func columns(fd int) int {
	width, _, _ := term.GetSize(fd) // 0 on an error
	return width
}

func rows(fd int) int {
	_, height, _ := term.GetSize(fd) // 0 on an error
	return height
}

// unicodeLocale reports whether the locale, by POSIX's order of variables, uses
// UTF-8. Windows has none of them and shows UTF-8.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return os.PathSeparator == '\\'
}

// maxPiece is the most written at once to anything but a regular file, so that it
// shows whether anyone reads. Pipes write that much atomically.
const maxPiece = 4 << 10

// An output is stdout or stderr. A process that shares it may make it nonblocking;
// then Write waits as it would have otherwise.
type output struct {
	w       io.Writer
	piece   int // the most written at once, 0 for all
	written atomic.Int64
}

// Write writes all of p.
func (o *output) Write(p []byte) (n int, err error) {
	const minPause, maxPause = time.Millisecond, 32 * time.Millisecond
	piece := o.pieceOf(len(p))
	pause := minPause
	for {
		m, err := o.w.Write(p[n:min(n+piece, len(p))])
		n += m
		o.written.Add(int64(m))
		switch {
		case errors.Is(err, syscall.EAGAIN):
			if m > 0 {
				pause = minPause
			}
			time.Sleep(pause)
			pause = min(2*pause, maxPause)
		case err != nil || n == len(p):
			return n, err
		}
	}
}

// pieceOf returns how much of a text is written at once. A regular file gets all of
// it: several processes may append to it.
func (o *output) pieceOf(length int) int {
	if o.piece == 0 || length <= o.piece {
		return length
	}
	if file, ok := o.w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return length
		}
	}
	return o.piece
}
