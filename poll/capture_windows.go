package poll

import (
	"io"
	"os"
	"time"
)

// drainTime is how long there is at least to read what a program wrote before it
// ended: closing the pipe would lose it. It is little, and so read at once.
const drainTime = time.Second

// interrupt ends the reading of a pipe.
func interrupt(r *os.File) { r.Close() }

// rest would read what is left in the pipe; closing it has lost that.
func rest(*os.File, io.Writer, func() []byte) (held bool) { return true }
