package report

import "io"

// A console writes to stderr, above a line that may be drawn there. What
// cannot be written is lost: that is no reason to end a run.
type console struct {
	w     io.Writer
	drawn string // the line that stands there, "" for none
}

// eraseLine goes to the first column and clears everything from there on: one
// line, or the rows it was wrapped into when the terminal got narrower.
const eraseLine = "\r\x1b[J"

// say writes whole lines, above the line that is drawn. All of it is one Write,
// so that nothing comes between.
func (c *console) say(text string) {
	if text == "" {
		return
	}
	if c.drawn != "" {
		text = eraseLine + text + picture(c.drawn)
	}
	_, _ = io.WriteString(c.w, text)
}

// Write is say, for writers.
func (c *console) Write(p []byte) (int, error) {
	c.say(string(p))
	return len(p), nil
}

// draw puts line where the one before stood.
func (c *console) draw(line string) {
	if line == "" {
		c.erase()
		return
	}
	c.drawn = line
	_, _ = io.WriteString(c.w, picture(line))
}

// picture returns what draws a line. What it does not cover is cleared after
// it, not before, so that nothing flickers; the cursor is left in the first
// column, where it stays when the terminal gets narrower and wraps the line.
func picture(line string) string { return "\r" + line + "\x1b[J\r" }

// finish writes the last lines, in the place of the line that is drawn.
func (c *console) finish(text string) {
	if c.drawn != "" {
		text = eraseLine + text
	}
	c.drawn = ""
	_, _ = io.WriteString(c.w, text)
}

// erase takes the drawn line away.
func (c *console) erase() {
	if c.drawn != "" {
		c.finish("")
	}
}

// abandon leaves the drawn line to whoever has the terminal now.
func (c *console) abandon() { c.drawn = "" }
