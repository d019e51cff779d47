package httpscript

import (
	"bytes"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
)

// Streams returns standard streams for a test, which are not terminals. The string in is the content of stdin. The
// buffers out and err collect the output.
func Streams(in string) (s *term.Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	none := func() int { return 0 }
	return &term.Streams{In: strings.NewReader(in), Out: out, Err: err, Unicode: true, Width: none, OutWidth: none, Height: none,
		Foreground: func() bool { return true },
		CloseOut:   func() error { return nil }}, out, err
}
