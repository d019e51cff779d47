package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	narrow      = 60               // columns, with fewer of which a row has fewer figures
	statusWidth = len("NOT_READY") // columns of a status
	phaseWidth  = len("next 9.9s") // the usual width, so that the words do not jump
)

// table returns a line for each row that has had an event.
func (r *Reporter) table(rows []*Row, now time.Time) (lines []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return row == nil })
	names, bars := 0, 0
	for _, row := range rows {
		names = max(names, term.Width(r.nameOf(row)))
		bars = max(bars, term.Width(row.progress.bar(r.glyphs)))
	}
	for _, row := range rows {
		mark, word, tone := r.stateOf(row, now)
		name := pad(r.nameOf(row), names)
		facts := pad("", statusWidth-len(word)) + r.facts(row, now, bars)
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

// pad fills text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// stateOf says in a sign and a word where a target stands.
func (r *Reporter) stateOf(row *Row, now time.Time) (mark, word string, tone term.Tone) {
	word = cmp.Or(string(row.status), "waiting")
	switch {
	case row.ending == poll.Succeeded:
		return r.glyphs.good, word, term.Good
	case row.ending == poll.Cancelled:
		return r.glyphs.empty, string(row.ending), term.Faint
	case row.over():
		return r.glyphs.bad, word, term.Bad
	case row.busy(), r.board.single(), row.list != nil && row.list.busy():
		return r.glyphs.frame(r.board.at(now)), word, toneOf(word)
	}
	return " ", word, toneOf(word)
}

// facts says what is known of a row: figures, where there is room, and words.
func (r *Reporter) facts(row *Row, now time.Time, bars int) string {
	if r.width() < narrow {
		return " " + clock(r.board.age(row, now)) + " " + r.wordsOn(row, now)
	}
	attempt := row.attempt
	if row.list != nil && !row.over() { // an element that has not changed has no event for each
		attempt = row.list.attempt
	}
	text := fmt.Sprintf("  %-3s %6s", fmt.Sprintf("#%d", attempt), clock(r.board.age(row, now)))
	isLooked := row.n == 0 // and not an element, for example
	if r.board.single() && row.limit > 0 {
		text += "/" + words.Short(row.limit)
	}
	if bars > 0 {
		text += "  " + pad(row.progress.bar(r.glyphs), bars)
	}
	if isLooked {
		text += "  " + pad(row.next(now), phaseWidth)
	}
	return text + "  " + r.wordsOn(row, now)
}

// wordsOn says why a target stands there and what is known of the next attempt and, of a single
// wait, of past runs.
func (r *Reporter) wordsOn(row *Row, now time.Time) string {
	text := row.reason
	switch {
	case row.isMissed() && !endedByVerdict(row.ending):
		return strings.TrimSuffix(string(row.ending)+": "+text, ": ")
	case row.over():
		return text
	case row.n > 0:
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
