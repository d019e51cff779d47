package term

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line that a LineWriter waits for, in bytes. A longer
// one is written in pieces, each a line of its own.
const maxLine = 4096

// A LineWriter makes text from outside harmless as [Block] does, line by line
// as it comes. It must not be used by two goroutines at once.
type LineWriter struct {
	w   io.Writer
	buf []byte // the line that has not ended yet
}

// NewLineWriter returns a LineWriter that writes whole lines to w, one Write
// for as many as are complete.
func NewLineWriter(w io.Writer) *LineWriter { return &LineWriter{w: w} }

// Write takes all of p and writes the lines that are complete. The error is
// that of the writer beneath.
func (l *LineWriter) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	var b strings.Builder
	for {
		line, ok := l.next()
		if !ok {
			break
		}
		writeLine(&b, string(line))
	}
	return len(p), l.write(b.String())
}

// Flush writes the line that has begun, as if it had ended.
func (l *LineWriter) Flush() error {
	text := Block(string(l.buf))
	l.buf = l.buf[:0]
	return l.write(text)
}

func (l *LineWriter) write(s string) error {
	if s == "" {
		return nil
	}
	_, err := io.WriteString(l.w, s)
	return err
}

// next takes a complete line, or a piece of one that is too long, off the
// buffer.
func (l *LineWriter) next() ([]byte, bool) {
	if i := bytes.IndexByte(l.buf[:min(len(l.buf), maxLine+1)], '\n'); i >= 0 {
		line := l.buf[:i]
		l.buf = l.buf[i+1:]
		return line, true
	}
	if len(l.buf) <= maxLine {
		return nil, false
	}
	cut := maxLine
	for cut > maxLine-utf8.UTFMax && !utf8.RuneStart(l.buf[cut]) {
		cut--
	}
	line := l.buf[:cut]
	l.buf = l.buf[cut:]
	return line, true
}
