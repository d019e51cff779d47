package report

import "io"

// A console writes to stderr, above a status line that may be drawn there. What
// cannot be written is lost: that is no reason to end a run.
type console struct {
	w     io.Writer
	drawn string // the status line that stands there, "" for none
}

// eraseLine goes to the first column and clears everything from there on: one
// line, or the rows it was wrapped into when the terminal got narrower.
const eraseLine = "\r\x1b[J"

// drawing returns what draws a status line. What it does not cover is cleared
// after it, not before, so that nothing flickers; the cursor is left in the first
// column, where it stays when the terminal gets narrower and wraps the line.
func drawing(line string) string { return "\r" + line + "\x1b[J\r" }

// say writes whole lines, above the status line. All of it is one Write, so that
// nothing comes between.
func (c *console) say(text string) {
	if text != "" && c.drawn != "" {
		text = eraseLine + text + drawing(c.drawn)
	}
	c.write(text)
}

// draw puts a status line in the place of the one before, or erases that.
func (c *console) draw(line string) {
	if line == "" {
		c.finish("")
		return
	}
	c.drawn = line
	c.write(drawing(line))
}

// finish writes the last lines, in the place of the status line.
func (c *console) finish(text string) {
	if c.drawn != "" {
		text = eraseLine + text
	}
	c.drawn = ""
	c.write(text)
}

func (c *console) write(text string) {
	if text != "" {
		_, _ = io.WriteString(c.w, text)
	}
}
