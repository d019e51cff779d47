package poll

import (
	"io"
	"os"
)

// interrupt ends the reading of a pipe.
func interrupt(r *os.File) { r.Close() }

// rest would read what is left in the pipe; closing it has lost that.
func rest(*os.File, io.Writer, func() []byte) (held bool) { return true }
