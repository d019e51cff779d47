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
func (r *Reporter) table(now time.Time) (lines []string) {
	rows := slices.DeleteFunc(slices.Clone(r.board.rows), func(row *Row) bool { return row == nil })
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
	if r.board.single() && row.limit > 0 {
		text += "/" + words.Short(row.limit)
	}
	if bars > 0 {
		text += "  " + pad(row.progress.bar(r.glyphs), bars)
	}
	if r.board.single() {
		text += "  " + pad(phaseWords(row, now), phaseWidth)
	}
	return text + "  " + r.wordsOn(row, now)
}

// phaseWords describes briefly what is under way.
func phaseWords(row *Row, now time.Time) string {
	if row.phase == poll.EventWait && row.held != poll.HeldByAnother {
		left := max(0, row.due.Sub(now))
		if left < 10*time.Second {
			return fmt.Sprintf("next %.1fs", left.Seconds())
		}
		return "next " + words.Short(left)
	}
	if d := now.Sub(row.since); d >= time.Second {
		return "busy " + words.Short(d.Truncate(time.Second))
	}
	return "busy"
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
	case !r.board.single():
		return clauses(heldWords(row.held), row.progress.others, text)
	}
	usual := r.forecast(row.operation(now))
	if row.judged == 0 && usual == "" {
		text = oneLine(row.name)
	}
	if row.judged == 0 || !row.tellsHint {
		text += row.hint
	}
	return clauses(heldWords(row.held), row.progress.others, text, usual)
}
