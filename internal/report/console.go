package report

import "io"

// A console writes to stderr, above a line that may be drawn there. What
// cannot be written is lost: that is no reason to end a run.
type console struct {
	w     io.Writer
	drawn bool // a line stands there that the next words must not run into
}

// eraseLine goes to the first column and clears everything from there on: one
// line, or the rows it was wrapped into when the terminal got narrower.
const eraseLine = "\r\x1b[J"

// say writes whole lines, in one Write so that nothing comes between.
func (c *console) say(text string) {
	if text == "" {
		return
	}
	if c.drawn {
		text = eraseLine + text
		c.drawn = false
	}
	_, _ = io.WriteString(c.w, text)
}

// Write is say, for writers.
func (c *console) Write(p []byte) (int, error) {
	c.say(string(p))
	return len(p), nil
}

// erase takes the drawn line away.
func (c *console) erase() {
	if c.drawn {
		c.drawn = false
		_, _ = io.WriteString(c.w, eraseLine)
	}
}
