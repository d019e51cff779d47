package report

import (
	"fmt"

	"github.com/pollcli/poll/internal/term"
)

// A Face is a way to show events.
type Face uint8

// The faces, in the words of --progress.
const (
	Auto  Face = iota // Live on a terminal that can, Lines elsewhere
	Live              // one line that is redrawn, and what is worth keeping above it
	Lines             // a log
	JSON              // an object per event
	None              // only what went wrong
)

// ParseFace reads auto, live, lines, json or none.
func ParseFace(s string) (Face, error) {
	switch s {
	case "auto":
		return Auto, nil
	case "live":
		return Live, nil
	case "lines":
		return Lines, nil
	case "json":
		return JSON, nil
	case "none":
		return None, nil
	}
	return 0, fmt.Errorf("progress %q: want auto, live, lines, json or none", s)
}

// choose returns the face that Auto stands for.
func (f Face) choose(s *term.Streams, getenv func(string) string) Face {
	switch {
	case f != Auto:
		return f
	case !s.ErrIsTerminal, s.Dumb, getenv("CI") == "true":
		return Lines
	}
	return Live
}
