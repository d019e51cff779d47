// Command picture draws a recording of a terminal as an SVG, which plays it once and
// stays at the last screen.
//
//	picture TEXT TIMES
//
// TEXT and TIMES are what script of util-linux writes with --log-out and
// --log-timing.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want TEXT TIMES, have %d arguments", len(args))
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	times, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	lines, err := play(text, string(times))
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(draw(lines))
	return err
}

// play shows a recording on a screen and returns what its rows were.
func play(text []byte, times string) ([]line, error) {
	_, text, _ = bytes.Cut(text, []byte("\n")) // what script itself says first
	var s screen
	var h history
	now := time.Duration(0)
	for entry := range strings.Lines(times) {
		var seconds float64
		var n int
		if _, err := fmt.Sscanf(entry, "%g %d", &seconds, &n); err != nil || n < 0 || n > len(text) {
			return nil, fmt.Errorf("read the times: %q is none", entry)
		}
		now += time.Duration(seconds * float64(time.Second))
		if err := s.write(text[:n]); err != nil {
			return nil, err
		}
		h.add(now, s.rows)
		text = text[n:]
	}
	return h.end(), nil
}

// A line is what stood in a row of the screen for a time.
type line struct {
	row      int
	cells    row
	from, to time.Duration // to is 0 on the last screen
}

// A history is what the rows of a screen were, and what they are now.
type history struct {
	past []line
	now  []line // one for each row
}

// soon is for how long a line at least is shown: one that is replaced sooner is left
// out.
const soon = 150 * time.Millisecond

func (h *history) add(at time.Duration, rows []row) {
	for len(h.now) < len(rows) {
		h.now = append(h.now, line{row: len(h.now), from: at})
	}
	for i, cells := range rows {
		last := &h.now[i]
		if cells.String() == last.cells.String() {
			continue
		}
		if len(last.cells) == 0 {
			last.from = at
		} else if at-last.from >= soon {
			h.past = append(h.past, line{i, last.cells, last.from, at})
			last.from = at
		}
		last.cells = append(row(nil), cells...)
	}
}

// end returns all that was shown.
func (h *history) end() []line {
	for _, last := range h.now {
		if len(last.cells) > 0 {
			h.past = append(h.past, last)
		}
	}
	return h.past
}
