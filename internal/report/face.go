package report

import (
	"fmt"
	"slices"
	"strings"

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

// FaceNames returns the words of the faces, in their order.
func FaceNames() []string { return []string{"auto", "live", "lines", "json", "none"} }

// ParseFace reads one of [FaceNames].
func ParseFace(s string) (Face, error) {
	i := slices.Index(FaceNames(), s)
	if i < 0 {
		return 0, fmt.Errorf("progress %q: want %s", s, strings.Join(FaceNames(), ", "))
	}
	return Face(i), nil
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
