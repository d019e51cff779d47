package ui

import (
	"fmt"
	"io"
	"strings"
)

// A console writes to stderr, above status lines if any are drawn. Write errors are
// ignored: they are no reason to end a run.
type console struct {
	w     io.Writer
	drawn string // what drew the status lines on the terminal, "" for none
}

// eraseLines goes to the first column and clears everything after it: the status
// lines, or the rows they were wrapped into when the terminal got narrower.
const eraseLines = "\r\x1b[J"

// drawing returns what draws status lines. The rest of each row is cleared
// afterwards, so that nothing flickers; the cursor is left in the first column of
// the first row, where it stays if the terminal gets narrower and wraps the lines. If that
// happens within a drawing, a row of it may be left. To switch the wrapping off would be worse: where
// the end of the drawing is never read, the terminal would stay so.
func drawing(lines []string) string {
	text := "\r" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[J\r"
	if up := len(lines) - 1; up > 0 {
		text += fmt.Sprintf("\x1b[%dA", up)
	}
	return text
}

// say writes whole lines, above the status lines.
func (c *console) say(text string) {
	if c.drawn != "" && text != "" {
		text = eraseLines + text + c.drawn
	}
	c.write(text)
}

// draw replaces the status lines. Together they must be fewer than the rows of the
// terminal.
func (c *console) draw(lines []string) {
	c.drawn = drawing(lines)
	c.write(c.drawn)
}

// finish writes the last lines, in place of the status lines.
func (c *console) finish(text string) {
	if c.drawn != "" {
		text = eraseLines + text
	}
	c.drawn = ""
	c.write(text)
}

func (c *console) write(text string) {
	if text != "" {
		_, _ = io.WriteString(c.w, text)
	}
}
