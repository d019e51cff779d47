//go:build unix

package process

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// drainTime is how long there is at least to read what a program wrote before it
// ended. None is needed: see rest.
const drainTime = 0

// interrupt ends the reading of a pipe.
func interrupt(r *os.File) { r.SetReadDeadline(time.Unix(1, 0)) }

// rest reads what is in a pipe whose reading was interrupted, without waiting
// for more. It reports whether the pipe is still held open.
//
// What the program wrote before it ended fits into the pipe. Whatever is beyond
// that, somebody else is writing just now.
func rest(r *os.File, w io.Writer, room func() []byte) (held bool) {
	const most = 1 << 20 // of what a pipe can hold (fs.pipe-max-size)
	r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return false
	}
	held = true
	for read := 0; read < most; {
		buf := room()
		n := 0
		raw.Read(func(fd uintptr) bool {
			for {
				if n, err = syscall.Read(int(fd), buf); !errors.Is(err, syscall.EINTR) {
					return true // never wait
				}
			}
		})
		if n == 0 && err == nil {
			return false
		}
		if n <= 0 {
			break
		}
		w.Write(buf[:n])
		read += n
	}
	return held
}
