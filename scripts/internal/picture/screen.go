package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A screen is as much of a terminal as poll uses: text, colours, the start of the
// line, and erasing below.
type screen struct {
	rows    []row
	y, x    int
	style   string
	pending []byte // the beginning of a character or a sequence
}

// A row is the cells of a line.
type row []cell

// A cell is a character and its style: classes, with blanks between.
type cell struct {
	char  rune
	style string
}

// styles are the classes for the parameters of an SGR sequence; "0" and "22" reset
// them.
var styles = map[string]string{
	"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan",
}

var (
	sequence   = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)
	unfinished = regexp.MustCompile(`^\x1b(\[[0-9;?]*)?$`)
)

// write shows text. What the screen does not know is an error, for the picture would
// be wrong.
func (s *screen) write(text []byte) error {
	text = append(s.pending, text...)
	for len(text) > 0 && utf8.FullRune(text) && !unfinished.Match(text) {
		if text[0] == '\x1b' {
			found := sequence.FindSubmatch(text)
			if found == nil {
				return fmt.Errorf("unknown sequence: %q", text[:min(len(text), 10)])
			}
			if err := s.control(string(found[1]), string(found[2])); err != nil {
				return err
			}
			text = text[len(found[0]):]
			continue
		}
		char, size := utf8.DecodeRune(text)
		s.put(char)
		text = text[size:]
	}
	s.pending = append([]byte(nil), text...)
	return nil
}

func (s *screen) put(char rune) {
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, nil)
	}
	switch char {
	case '\r':
		s.x = 0
	case '\n':
		s.y++
	default:
		r := s.rows[s.y]
		for len(r) <= s.x {
			r = append(r, cell{char: ' '})
		}
		r[s.x] = cell{char, s.style}
		s.rows[s.y] = r
		s.x++
	}
}

func (s *screen) control(parameters, final string) error {
	switch {
	case final == "J" && (parameters == "" || parameters == "0"):
		if s.y < len(s.rows) { // it is the last row: the cursor never goes up
			s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		}
	case final == "m" && (parameters == "" || parameters == "0" || parameters == "22"):
		s.style = ""
	case final == "m" && styles[parameters] != "":
		s.style = strings.TrimSpace(s.style + " " + styles[parameters])
	default:
		return fmt.Errorf("unknown sequence: ESC [ %s %s", parameters, final)
	}
	return nil
}
