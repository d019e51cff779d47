package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

const (
	redraw       = 100 * time.Millisecond // the shortest time between two drawings
	otherLines   = 4                      // of the terminal, that a table leaves free
	shownReasons = 5                      // that most targets have
	defaultRows  = 24                     // of a terminal that does not say
	leastColumns = 24                     // of a terminal on which anything is drawn
	barWidth     = 10
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

// bar shows a share from 0 to 1.
func (g glyphs) bar(done float64) string {
	n := int(done * barWidth)
	return strings.Repeat(g.full, n) + strings.Repeat(g.empty, barWidth-n)
}

// height returns the rows of the terminal.
func (r *Reporter) height() int { return cmp.Or(r.cfg.Streams.Height(), defaultRows) }

// width returns how many columns a line may have: one fewer than the terminal, since
// some terminals wrap after a character in the last column.
func (r *Reporter) width() int { return cmp.Or(r.cfg.Streams.Width(), 80) - 1 }

// isNarrow reports whether the terminal has no room for all columns of a row.
func (r *Reporter) isNarrow() bool { return r.width() < narrow }

// cut cuts a line to columns.
func (r *Reporter) cut(text string, columns int) string {
	return term.Cut(text, columns, r.glyphs.ellipsis)
}

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

// live returns the lines that show the board: one for a single wait, a table of few targets,
// and counts and the commonest reasons of many.
func (r *Reporter) live(now time.Time) []string {
	switch {
	case r.width() < leastColumns:
		return nil
	case r.board.single():
		return r.table(r.board.rows, now)
	case r.inTable():
		return append(r.table(r.board.rows, now), r.summary(now)...)
	}
	return r.summary(now)
}

// summary returns the lines about all targets and, unless each has a row in a table, about the
// commonest reasons.
func (r *Reporter) summary(now time.Time) []string {
	b, elapsed := r.board, clock(r.board.at(now))
	if d := r.cfg.Timeout; d > 0 {
		elapsed += "/" + words.Short(d)
	}
	frame, counts := r.glyphs.frame(b.at(now))+" ", b.counts()+"  ("+b.goal+")"
	lines := []string{frame + elapsed + "  " + counts}
	if ended := b.endings(); !r.inTable() {
		bar := r.glyphs.bar(float64(b.size-ended[""]) / float64(max(1, b.size)))
		done := fmt.Sprintf("%s  %d of %d done  ", bar, ended[poll.Succeeded], b.size)
		lines = []string{frame + done + elapsed, "  " + counts}
		for _, most := range b.commonest(shownReasons) {
			lines = append(lines, fmt.Sprintf("  %*d  %s", len(fmt.Sprint(b.size)), len(most), r.brief(most.reason())))
		}
	}
	for i := range lines {
		lines[i] = r.cut(lines[i], r.width())
	}
	return append(lines, r.table(b.open(), now)...)
}
