package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	redraw       = 100 * time.Millisecond // the shortest time between two drawings
	otherLines   = 4                      // of the terminal, that a table leaves free
	shownReasons = 5                      // that most targets have
	shownPlaces  = 3                      // that are closed
	shownOldest  = 3                      // targets, where not all are shown
	defaultRows  = 24                     // of a terminal that does not say
)

// glyphs are the characters drawn besides letters.
type glyphs struct {
	spinner     []rune
	full, empty string // of a bar
	good, bad   string // before a target that has ended
	ellipsis    string // for cut text
}

func glyphsOf(unicode bool) glyphs {
	if unicode {
		return glyphs{spinner: []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), full: "━", empty: "─", good: "✓", bad: "✗", ellipsis: "…"}
	}
	return glyphs{spinner: []rune(`|/-\`), full: "=", empty: "-", good: "+", bad: "x", ellipsis: "..."}
}

// frame returns the spinner, which depends only on the time.
func (g glyphs) frame(elapsed time.Duration) string {
	return string(g.spinner[int(elapsed/redraw)%len(g.spinner)])
}

// A piece is a part of a line that is there in full or not at all.
type piece struct{ plain, painted string }

func plain(s string) piece { return piece{s, s} }

// line joins the pieces that fit into width columns.
func line(width int, gap string, pieces ...piece) string {
	var text string
	for _, p := range pieces {
		sep := gap
		if text == "" {
			sep = ""
		}
		if columns := term.Width(sep + p.plain); p.plain != "" && columns <= width {
			text += sep + p.painted
			width -= columns
		}
	}
	return text
}

// bar shows a share from 0 to 1.
func (r *Reporter) bar(done float64, columns int) piece {
	n, c := int(done*float64(columns)), r.cfg.Palette
	full, empty := strings.Repeat(r.glyphs.full, n), strings.Repeat(r.glyphs.empty, columns-n)
	return piece{full + empty, c.Paint(term.Pending, full) + c.Paint(term.Faint, empty)}
}

// height returns the rows of the terminal.
func (r *Reporter) height() int { return cmp.Or(r.cfg.Streams.Height(), defaultRows) }

// width returns how many columns a line may have: one fewer than the terminal, since
// some terminals wrap after a character in the last column.
func (r *Reporter) width() int { return cmp.Or(r.cfg.Streams.Width(), 80) - 1 }

// inTable reports whether each of several targets has a row in a table on the terminal.
func (r *Reporter) inTable() bool {
	b := r.board
	return r.cfg.Face == Live && !b.single() && b.few() && b.size <= r.height()-otherLines
}

// draw redraws the status lines. It checks the terminal's size and whether poll is in the
// foreground each time, so it needs no notice of a resize, or of a stop and continue.
func (r *Reporter) draw(now time.Time) {
	r.drew = now
	if !r.inBackground() {
		lines := r.live(now)
		r.con.draw(lines[:min(len(lines), max(1, r.height()-1))])
	}
}

// last returns what stays of a table.
func (r *Reporter) last(now time.Time) string {
	if !r.inTable() || !r.cfg.Streams.Foreground() {
		return ""
	}
	return strings.Join(r.table(r.board.rows, now), "\n") + "\n"
}

// leastColumns is how wide a terminal must be for anything to be drawn.
const leastColumns = 24

// live returns the lines that show the board: one for a single wait, a table of few targets,
// and the state of many in a few lines.
func (r *Reporter) live(now time.Time) []string {
	b := r.board
	switch {
	case r.width() < leastColumns:
		return nil
	case b.single():
		return r.table(b.rows, now)
	case r.inTable():
		return append(r.table(b.rows, now), r.summary(now)...)
	}
	return r.overview(now)
}

// elapsed returns the time that is over, and how much there is.
func (r *Reporter) elapsed(now time.Time) string {
	text := clock(r.board.at(now))
	if d := r.cfg.Timeout; d > 0 {
		text += "/" + words.Short(d)
	}
	return text
}

// summary is what is below a table.
func (r *Reporter) summary(now time.Time) []string {
	b := r.board
	parts := append([]piece{plain(r.elapsed(now))}, b.pieces(r.cfg.Palette)...)
	parts = append(parts, plain("("+b.goal+")"))
	text := r.glyphs.frame(b.at(now)) + " " + line(r.width()-2, "  ", parts...)
	return append([]string{text}, r.holdups(now, 1)...)
}

// overview is what is shown of many targets.
func (r *Reporter) overview(now time.Time) []string {
	b, width := r.board, r.width()
	ended := b.endings()
	bar := r.bar(float64(b.size-ended[""])/float64(max(1, b.size)), min(30, max(barWidth, width/4)))
	done := plain(fmt.Sprintf("%d of %d done", ended[poll.Succeeded], b.size))
	lines := []string{
		r.glyphs.frame(b.at(now)) + " " + line(width-2, "  ", bar, done, plain(r.elapsed(now))),
		"  " + line(width-2, "  ", append(b.pieces(r.cfg.Palette), plain("("+b.goal+")"))...),
	}
	most := b.commonest(shownReasons)
	for _, one := range most {
		digits := len(strconv.Itoa(len(most[0].rows)))
		text := fmt.Sprintf("  %*d  %s", digits, len(one.rows), one.reason(r.glyphs.ellipsis))
		lines = append(lines, term.Cut(text, width, r.glyphs.ellipsis))
	}
	lines = append(lines, r.holdups(now, shownPlaces)...)
	var oldest []*Row
	for _, row := range b.rows {
		if row != nil && !row.over() && len(oldest) < shownOldest {
			oldest = append(oldest, row)
		}
	}
	if len(oldest) == 0 {
		return lines
	}
	return append(append(lines, "  waiting longest:"), r.table(oldest, now)...)
}

// holdups returns a line about the lists, and one for each of the first places that are closed.
func (r *Reporter) holdups(now time.Time, most int) (lines []string) {
	if text := r.listWords(now); text != "" {
		lines = append(lines, "  "+text)
	}
	closed := r.board.closed(now)
	for i, p := range closed[:min(len(closed), most)] {
		text := "  " + p.words(now)
		if more := len(closed) - most; i == most-1 && more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, text)
	}
	for i := range lines {
		lines[i] = term.Cut(lines[i], r.width(), r.glyphs.ellipsis)
	}
	return lines
}
