package ui

import (
	"fmt"
	"io"
	"strings"
)

// A console writes to stderr, above status lines if any are drawn. Write errors are
// ignored: they never end a run.
type console struct {
	w          io.Writer
	foreground func() bool // reports whether drawing is allowed; nil for always
	drawn      string      // the text that drew the status lines, or ""
}

// eraseLines goes to the first column and clears the rest of the screen: the status
// lines, or the rows into which the terminal wrapped them when it became narrower.
const eraseLines = "\r\x1b[J"

// drawing returns the text that draws status lines. The rest of each row is cleared
// afterwards, so that nothing flickers. The cursor is left in the first column of
// the first row, where it stays if the terminal becomes narrower and wraps the lines. If that
// happens within a drawing, a row of the drawing may be left. Switching the wrapping off would be worse:
// if the end of the drawing is never read, the terminal would stay in that mode.
func drawing(lines []string) string {
	text := "\r" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[J\r"
	if up := len(lines) - 1; up > 0 {
		text += fmt.Sprintf("\x1b[%dA", up)
	}
	return text
}

// inBackground reports whether the terminal belongs to another process group. The status lines
// are then no longer erased.
func (c *console) inBackground() bool {
	if c.foreground == nil || c.foreground() {
		return false
	}
	c.drawn = ""
	return true
}

// say writes whole lines, above the status lines.
func (c *console) say(text string) {
	if c.drawn != "" && text != "" {
		text = eraseLines + text + c.drawn
	}
	c.write(text)
}

// draw replaces the status lines. Their number must be below that of the rows of the
// terminal.
func (c *console) draw(lines []string) {
	c.drawn = drawing(lines)
	c.write(c.drawn)
}

// finish writes the last lines in place of the status lines.
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
