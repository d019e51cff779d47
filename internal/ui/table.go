package ui

import (
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

// row returns a target as a row of a table. That of a single wait has no name, but what is under
// way and how much time there is.
func (r *Reporter) row(row *Row, now time.Time) (c cells) {
	b := r.board
	age := b.age(row, now)
	state, tone := stateOf(row), toneOf(row.status.String())
	mark, text := r.mark(row, now)
	switch {
	case row.ending == poll.Cancelled:
		tone = term.Faint
	case row.over() && row.ending != poll.Succeeded:
		tone = term.Bad
	}
	if row.over() && row.ending != poll.Cancelled && !endedByVerdict(row.ending) {
		text = strings.TrimSuffix(string(row.ending)+": "+text, ": ")
	}
	made := row.attempt
	if row.list != nil && !row.over() { // an element that has not changed has no event for each
		made = row.list.attempt
	}
	attempt, elapsed := fmt.Sprintf("#%d", made), words.Clock(age)
	if b.single() {
		c[columnPhase] = plain(fmt.Sprintf("%-*s", phaseWidth, phase(row, now)))
		if n := row.latest.MaxAttempts; n > 0 && r.width() >= wide {
			attempt += fmt.Sprintf("/%d", n)
		}
		if d := timeoutOf(row.latest); d > 0 && r.width() >= wide {
			elapsed += "/" + words.Short(d)
		}
	} else {
		c[columnName] = plain(oneLine(row.name))
	}
	if row.detail != nil {
		c[columnBar] = row.reading.bar(r)
	}
	c[columnMark] = piece{mark, r.cfg.Palette.Paint(tone, mark)}
	c[columnStatus] = piece{state, r.cfg.Palette.Paint(tone, state)}
	c[columnAttempt], c[columnElapsed], c[columnWords] = plain(attempt), plain(elapsed), plain(text)
	return c
}

// stateOf says in a word where a target stands.
func stateOf(row *Row) string {
	switch {
	case row.ending == poll.Cancelled:
		return string(row.ending)
	case row.status.String() == "":
		return "waiting"
	}
	return row.status.String()
}

// mark returns the sign of where a target stands, and the words on it.
func (r *Reporter) mark(row *Row, now time.Time) (mark, text string) {
	mark, text = " ", row.reason
	if row.detail != nil {
		text = before(row.reading.others(), text)
	}
	switch {
	case row.ending == poll.Succeeded:
		return r.glyphs.good, text
	case row.ending == poll.Cancelled:
		return r.glyphs.empty, text
	case row.over():
		return r.glyphs.bad, text
	case r.board.single():
		return r.glyphs.frame(r.board.age(row, now)), r.outlookOf(row, text, now)
	case row.busy, row.list != nil && row.list.busy:
		mark = r.glyphs.frame(r.board.at(now))
	}
	if row.detail != nil && row.latest.Kind == poll.EventWait {
		text = before(heldWords(row.latest.HeldBy), text)
	}
	return mark, text
}

// outlookOf adds to the words on a single wait what is known of the next attempt, and of past
// runs.
func (r *Reporter) outlookOf(row *Row, text string, now time.Time) string {
	asked := hintWords(row.latest)
	if row.judged > 0 && row.tellsHint {
		asked = ""
	}
	usual := r.forecast(row.operation(now))
	if row.judged == 0 && (usual == "" || row.latest.Hint != nil) { // the target is in the opening line
		text = oneLine(row.latest.Target)
	}
	text = before(heldWords(row.latest.HeldBy), text+asked)
	return before(text, usual)
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
