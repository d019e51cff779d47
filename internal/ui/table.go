package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

const (
	wide        = 99               // columns, with fewer of which names and words leave no room for bars
	narrow      = 60               // columns, with fewer of which a row has fewer figures
	statusWidth = len("NOT_READY") // columns of a status
	phaseWidth  = len("next 9.9s") // the usual width, so that the words do not jump
)

// table returns a line for each row that has had an event.
func (r *Reporter) table(rows []*Row, now time.Time) (lines []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return row == nil })
	names, bars, states := 0, 0, statusWidth
	for _, row := range rows {
		states = max(states, len(stateOf(row)))
		names = max(names, term.Width(r.nameOf(row)))
		if r.board.single() || r.width() >= wide {
			bars = max(bars, term.Width(row.progress.bar(r.glyphs)))
		}
	}
	for _, row := range rows {
		mark, name, word, tone := r.markOf(row, now), pad(r.nameOf(row), names), stateOf(row), row.tone()
		facts := pad("", states-len(word)) + r.facts(row, now, bars)
		room := r.width() - term.Width(mark+" "+name+word)
		line := r.cfg.Palette.Paint(tone, mark) + " " + name + r.cfg.Palette.Paint(tone, word) + r.cut(facts, room)
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// nameOf returns the name of a row and a gap, nothing for a single wait.
func (r *Reporter) nameOf(row *Row) string {
	if r.board.single() {
		return ""
	}
	return term.CutFront(oneLine(row.name), 2*r.width()/5, r.glyphs.ellipsis) + "  "
}

// stateOf returns the state of a row, whose mark says whether it is still that.
func stateOf(row *Row) string { return strings.TrimPrefix(row.state(), "still ") }

// pad fills text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// markOf says in a sign where a target stands.
func (r *Reporter) markOf(row *Row, now time.Time) string {
	switch {
	case row.ending == poll.Succeeded:
		return r.glyphs.good
	case row.ending == poll.Cancelled:
		return r.glyphs.empty
	case row.over():
		return r.glyphs.bad
	case row.busy(), r.board.single():
		return r.glyphs.frame(r.board.at(now))
	}
	return " "
}

// facts says what is known of a row: figures, where there is room, and words.
func (r *Reporter) facts(row *Row, now time.Time, bars int) string {
	if r.width() < narrow {
		return " " + clock(r.board.age(row, now)) + " " + r.wordsOn(row, now)
	}
	text := fmt.Sprintf("  %-3s %6s", fmt.Sprintf("#%d", row.attempt), clock(r.board.age(row, now)))
	if r.board.single() && row.limit > 0 {
		text += "/" + words.Short(row.limit)
	}
	if bars > 0 {
		text += "  " + pad(row.progress.bar(r.glyphs), bars)
	}
	if row.n == 0 { // and not an element, for example
		text += "  " + pad(row.next(now), phaseWidth)
	}
	return text + "  " + r.wordsOn(row, now)
}

// wordsOn says why a target stands there and what is known of the next attempt and, of a single
// wait, of past runs.
func (r *Reporter) wordsOn(row *Row, now time.Time) string {
	text := row.reason
	if row.over() {
		return text
	} else if row.n > 0 {
		return clauses(heldWords(row.held), row.progress.others, text)
	}
	usual := r.forecast(row.operation(now))
	if row.judged == 0 && usual == "" && r.board.single() {
		text = oneLine(row.name)
	}
	if row.judged == 0 || !row.tellsHint {
		text += row.hint
	}
	return clauses(heldWords(row.held), row.progress.others, text, usual)
}
