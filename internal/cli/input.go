package cli

import (
	"io"
	"os"
)

// A file need not have an end, so there is a most that is read: of a body, an
// answer, the input of a command; and of headers or logins, one a line.
const (
	mostInput = 256 << 20
	mostLines = 1 << 20
)

// readFile reads a file, or stdin for "-". One with more than most bytes, a
// whole number of MiB, is refused.
func (in *invocation) readFile(name string, most int64) ([]byte, error) {
	r := in.Streams.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		if name == "-" {
			name = "stdin"
		}
		return nil, usagef("%s has more than %d MiB, the most that is read of it", name, most>>20)
	}
	return text, err
}
