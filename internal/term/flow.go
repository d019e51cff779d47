package term

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// maxPiece is the most that is written at once to what is no file, so that it
// is seen whether somebody reads. Nothing else comes between so much in a pipe.
const maxPiece = 4 << 10

// A flow is an output of the process. Whoever shares it may make it nonblocking;
// a flow waits as it would have done otherwise.
type flow struct {
	w       io.Writer
	piece   int // the most that is written at once to what is no file, 0 for all
	written atomic.Int64
}

// Write writes all of p.
func (f *flow) Write(p []byte) (n int, err error) {
	piece := f.pieceOf(len(p))
	pause := minPause
	for {
		m, err := f.w.Write(p[n:min(n+piece, len(p))])
		n += m
		f.written.Add(int64(m))
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

// pieceOf is how much of a text is written at once. A file gets it as a whole:
// several processes may append to it.
func (f *flow) pieceOf(length int) int {
	if f.piece == 0 || length <= f.piece {
		return length
	}
	if file, ok := f.w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return length
		}
	}
	return f.piece
}

// The pauses between two looks at whether a nonblocking output has room.
const (
	minPause = time.Millisecond
	maxPause = 32 * time.Millisecond
)
