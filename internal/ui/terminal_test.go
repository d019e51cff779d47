package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/internal/ui/term"
)

// A terminal is what a person sees of what the live face of several targets writes. When
// it gets narrower, it wraps its rows again, and the cursor stays at its character.
type terminal struct {
	t             *testing.T
	mu            sync.Mutex // the Reporter reads and writes on its timer's goroutine
	width, height int
	rows          []terminalRow // also those that have scrolled off
	x, y          int           // the cursor
	background    bool
	writes        int
}

type terminalRow struct {
	cells   []string // the second one of a wide character is empty
	wrapped bool     // continues in the next line
}

func (r terminalRow) text() string { return strings.Join(r.cells, "") }

// cut keeps the first columns.
func (r *terminalRow) cut(columns int) {
	r.cells, r.wrapped = r.cells[:min(len(r.cells), columns)], false
}

func newTerminal(t *testing.T, width, height int) *terminal {
	return &terminal{t: t, width: width, height: height, rows: make([]terminalRow, 1)}
}

func (m *terminal) streams() *term.Streams {
	s, _, _ := httpscript.Streams("")
	s.Err, s.ErrIsTerminal = m, true
	s.Width = func() int { m.mu.Lock(); defer m.mu.Unlock(); return m.width }
	s.Height = func() int { m.mu.Lock(); defer m.mu.Unlock(); return m.height }
	s.Foreground = func() bool { m.mu.Lock(); defer m.mu.Unlock(); return !m.background }
	return s
}

// text returns the rows as they are seen.
func (m *terminal) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, row := range m.rows {
		b.WriteString(strings.TrimRight(row.text(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

var cursorUp = regexp.MustCompile("^\x1b\\[([0-9]+)A")

func (m *terminal) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	for text := escapes.ReplaceAllString(string(p), ""); text != ""; {
		n := 0
		switch row := &m.rows[m.y]; {
		case strings.HasPrefix(text, "\x1b[J"):
			m.rows = m.rows[:m.y+1]
			fallthrough
		case strings.HasPrefix(text, "\x1b[K"):
			row.cut(m.x)
			n = len("\x1b[K")
		case cursorUp.MatchString(text):
			up := 0
			fmt.Sscanf(text, "\x1b[%dA", &up)
			if m.y -= up; m.y < len(m.rows)-m.height {
				m.t.Errorf("the cursor would leave the top of the screen: %q", p)
			}
			n = len(cursorUp.FindString(text))
		case text[0] == '\r':
			m.x, n = 0, 1
		case text[0] == '\n': // as terminals do that add a carriage return
			m.down()
			m.x, n = 0, 1
		case text[0] < ' ':
			m.t.Fatalf("what is %q?", text)
		default:
			_, n = utf8.DecodeRuneInString(text)
			m.put(text[:n])
		}
		text = text[n:]
	}
	return len(p), nil
}

func (m *terminal) down() {
	if m.y++; m.y == len(m.rows) {
		m.rows = append(m.rows, terminalRow{})
	}
}

// put writes a character at the cursor, or adds it to the one before, which it changes.
func (m *terminal) put(char string) {
	const joiner = "\u200d"
	row, columns := &m.rows[m.y], term.Width(char)
	before := m.x - 1
	for before > 0 && row.cells[before] == "" {
		before--
	}
	if before >= 0 && (columns == 0 || strings.HasSuffix(row.cells[before], joiner)) {
		row.cells[before] += char
		return
	}
	if m.x+columns > m.width {
		row.wrapped = true
		m.down()
		m.x, row = 0, &m.rows[m.y]
	}
	for len(row.cells) < m.x+columns {
		row.cells = append(row.cells, " ")
	}
	copy(row.cells[m.x:], []string{char, ""}[:columns])
	m.x += columns
}

// resize changes the width and wraps all rows again.
func (m *terminal) resize(width int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, y := m.rows, m.y
	m.width, m.rows, m.x, m.y = width, nil, 0, 0
	for i := 0; i < len(old); i++ {
		first, cells := i, old[i].cells
		for old[i].wrapped && i+1 < len(old) {
			i++
			cells = slices.Concat(cells, old[i].cells)
		}
		if first <= y && y <= i {
			m.y = len(m.rows) // the cursor is at the beginning of a line
		}
		for len(cells) > width {
			m.rows = append(m.rows, terminalRow{cells[:width:width], true})
			cells = cells[width:]
		}
		m.rows = append(m.rows, terminalRow{cells: cells})
	}
}
