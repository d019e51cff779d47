package report

import "io"

// A console writes to stderr, above a status line if one is drawn. Write errors are
// ignored: they are no reason to end a run.
type console struct {
	w     io.Writer
	drawn string // the status line on the terminal, "" for none
}

// eraseLine goes to the first column and clears everything after it: one line, or
// the rows it was wrapped into when the terminal got narrower.
const eraseLine = "\r\x1b[J"

// drawing returns what draws a status line. The rest of the row is cleared
// afterwards, so that nothing flickers; the cursor is left in the first column,
// where it stays if the terminal gets narrower and wraps the line.
func drawing(line string) string { return "\r" + line + "\x1b[J\r" }

// say writes whole lines above the status line, in one Write, so that nothing comes
// in between.
func (c *console) say(text string) {
	if text != "" && c.drawn != "" {
		text = eraseLine + text + drawing(c.drawn)
	}
	c.write(text)
}

// draw replaces the status line, or erases it if line is empty.
func (c *console) draw(line string) {
	if line == "" {
		c.finish("")
		return
	}
	c.drawn = line
	c.write(drawing(line))
}

// finish writes the last lines, in place of the status line.
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
