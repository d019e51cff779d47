package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

// The columns of a table. Those that no row has are not there.
const (
	columnMark = iota
	columnName
	columnStatus
	columnAttempt
	columnElapsed
	columnBar
	columnPhase
	columnWords
	columns
)

const (
	narrow     = 60 // columns; below, the parts are packed closer
	wide       = 79 // columns from which limits are shown
	barWidth   = 10
	phaseWidth = len("next 9.9s") // the usual width, so that the words do not jump
	leastWords = 16               // columns of the words, for which others are left out
	leastName  = 16               // likewise, of a name
	mostName   = 80               // columns of a name where half of the room is less
)

// cells are the columns of a row.
type cells [columns]piece

// row returns a target as a row of a table. That of a single wait has no name, but how much time
// there is, and what is under way.
func (r *Reporter) row(row *Row, now time.Time) cells {
	mark, state, tone := r.stateOf(row, now)
	attempt := row.attempt
	if row.list != nil && !row.over() { // an element that has not changed has no event for each
		attempt = row.list.attempt
	}
	c := cells{
		columnMark:    {mark, r.cfg.Palette.Paint(tone, mark)},
		columnStatus:  {state, r.cfg.Palette.Paint(tone, state)},
		columnAttempt: plain(fmt.Sprintf("#%d", attempt)),
		columnElapsed: plain(clock(r.board.age(row, now))),
		columnWords:   plain(r.wordsOn(row, now)),
	}
	if row.detail != nil {
		c[columnBar] = row.reading.bar(r)
	}
	if !r.board.single() {
		c[columnName] = plain(oneLine(row.name))
		return c
	}
	if d := timeoutOf(row.latest); d > 0 && r.width() >= wide {
		c[columnElapsed] = plain(c[columnElapsed].plain + "/" + words.Short(d))
	}
	c[columnPhase] = plain(fmt.Sprintf("%-*s", phaseWidth, phase(row, now)))
	return c
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
	case row.busy, r.board.single(), row.list != nil && row.list.busy:
		return r.glyphs.frame(r.board.at(now)), word, toneOf(word)
	}
	return " ", word, toneOf(word)
}

// wordsOn says why a target stands there and what is known of the next attempt and, of a single
// wait, of past runs.
func (r *Reporter) wordsOn(row *Row, now time.Time) string {
	switch text := row.reason; {
	case row.isMissed() && !endedByVerdict(row.ending):
		return strings.TrimSuffix(string(row.ending)+": "+text, ": ")
	case row.over(), row.detail == nil:
		return text
	case !r.board.single():
		return before(heldWords(row.latest.HeldBy), before(row.reading.others(), text))
	}
	text, usual := before(row.reading.others(), row.reason), r.forecast(row.operation(now))
	if row.judged == 0 && usual == "" {
		text = oneLine(row.latest.Target)
	}
	if row.judged == 0 || !row.tellsHint {
		text += hintWords(row.latest)
	}
	return before(before(heldWords(row.latest.HeldBy), text), usual)
}

// phase describes briefly what is under way.
func phase(row *Row, now time.Time) string {
	if row.latest.Kind == poll.EventWait && row.latest.HeldBy != poll.HeldByAnother {
		left := max(0, row.latest.State.Due.Sub(now))
		if left < 10*time.Second {
			return fmt.Sprintf("next %.1fs", left.Seconds())
		}
		return "next " + words.Short(left)
	}
	if d := now.Sub(row.latest.At); d >= time.Second {
		return "busy " + words.Short(d.Truncate(time.Second))
	}
	return "busy"
}

// table returns a line for each row that has had an event, in columns of one width.
func (r *Reporter) table(rows []*Row, now time.Time) (lines []string) {
	var all []cells
	var widths [columns]int
	for _, row := range rows {
		if row == nil {
			continue
		}
		c := r.row(row, now)
		all = append(all, c)
		for i, cell := range c {
			widths[i] = max(widths[i], term.Width(cell.plain))
		}
	}
	widths[columnStatus] = statusWidth
	r.fit(&widths)
	for _, c := range all {
		lines = append(lines, r.join(c, widths))
	}
	return lines
}

// fit makes columns as wide as there is room, and leaves some out if there is too little for
// names and words.
func (r *Reporter) fit(widths *[columns]int) {
	name := widths[columnName]
	least := leastWords + min(name, leastName)
	for _, dropped := range []int{columnBar, columnAttempt, columnElapsed, columnPhase} {
		if r.room(widths) < least {
			widths[dropped] = 0
		}
	}
	room := r.room(widths)
	r.said = max(r.said, widths[columnWords]) // so that names do not jump
	if name > 0 {
		name = min(name, max(room/2, min(room-max(r.said, leastWords), mostName), 0))
	}
	widths[columnName], widths[columnWords] = name, max(0, room-name)
}

// room returns how many columns are left for names and words.
func (r *Reporter) room(widths *[columns]int) int {
	room := r.width() - len("x ")
	for i := columnName; i < columnWords; i++ {
		if widths[i] > 0 {
			room -= len(gapOf(r.width()))
		}
		if i != columnName {
			room -= widths[i]
		}
	}
	return room
}

// join joins the columns of a row.
func (r *Reporter) join(c cells, widths [columns]int) string {
	mark, gap := r.glyphs.ellipsis, gapOf(r.width())
	c[columnName] = plain(term.CutMiddle(c[columnName].plain, widths[columnName], mark))
	text := c[columnMark].painted + " "
	for i := columnName; i < columnWords; i++ {
		pad := strings.Repeat(" ", max(0, widths[i]-term.Width(c[i].plain)))
		switch {
		case widths[i] == 0:
		case i == columnElapsed:
			text += pad + c[i].painted + gap
		default:
			text += c[i].painted + pad + gap
		}
	}
	return strings.TrimRight(text+term.Cut(c[columnWords].plain, widths[columnWords], mark), " ")
}

// gapOf returns what is between columns.
func gapOf(width int) string {
	if width < narrow {
		return " "
	}
	return "  "
}
