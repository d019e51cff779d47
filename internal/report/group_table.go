package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

// A tableRow is a target in a table, as plain text.
type tableRow struct {
	mark, name, status, attempt, elapsed, words string
	bar                                         piece     // empty for none
	tone                                        term.Tone // of mark and status
}

func (v *groupLive) row(t *target, now time.Time) tableRow {
	glyphs := v.r.glyphs
	row := tableRow{
		mark: " ", name: oneLine(t.name), status: t.status.String(), tone: toneOf(t.status.String()),
		attempt: fmt.Sprintf("#%d", v.r.group.attempt(t)), elapsed: words.Clock(v.r.group.age(t, now)),
	}
	switch {
	case t.row != nil:
		row.bar, row.words = v.r.progressBar(t.row.reading), before(t.row.reading.others(), t.row.words)
	case t.reason != nil:
		row.words = t.reason.text(glyphs.ellipsis)
	}
	if t.row != nil && !t.over {
		row.words = before(t.row.held, row.words)
	}
	switch {
	case t.over && t.ending == poll.Succeeded:
		row.mark = glyphs.good
	case t.over && t.ending == poll.Cancelled:
		row.mark, row.status, row.tone = glyphs.empty, "cancelled", term.Faint
	case t.over:
		row.mark, row.tone = glyphs.bad, term.Bad
		if !endedByVerdict(t.ending) {
			row.words = strings.TrimSuffix(string(t.ending)+": "+row.words, ": ")
		}
	case t.busy, t.inList && v.r.group.lists[0].latest.Kind == poll.EventStart:
		row.mark = glyphs.frame(v.r.group.at(now))
	}
	if row.status == "" {
		row.status = "waiting"
	}
	return row
}

const (
	// Below leastDetails columns for name and words, a table has no room for attempt and
	// elapsed.
	leastDetails = 36
	// mostName is how many columns a name may have where half of the room is less.
	mostName = 80
)

// table returns a row for each target, in columns of one width. Half of the room is for
// the names, if they are that long, and more if the words are short.
func (v *groupLive) table(targets []*target, now time.Time) (lines []string) {
	var rows []tableRow
	var nameColumns, attemptColumns, elapsedColumns, barColumns int
	for _, t := range targets {
		if t == nil {
			continue // its first event is yet to come
		}
		row := v.row(t, now)
		rows = append(rows, row)
		nameColumns, v.said = max(nameColumns, term.Width(row.name)), max(v.said, term.Width(row.words))
		attemptColumns, elapsedColumns = max(attemptColumns, len(row.attempt)), max(elapsedColumns, len(row.elapsed))
		barColumns = max(barColumns, term.Width(row.bar.plain))
	}
	gap := gapOf(v.r.width())
	room := v.r.width() - len("x ") - statusWidth - 2*len(gap)
	details := 2*len(gap) + attemptColumns + elapsedColumns
	if room-details < leastDetails {
		details = 0
	}
	room -= details
	if barColumns > 0 && room-barColumns-len(gap) < leastDetails {
		barColumns = 0
	}
	if barColumns > 0 {
		room -= barColumns + len(gap)
	}
	nameColumns = min(nameColumns, max(room/2, min(room-max(v.said, leastWords), mostName), 0))
	paint, mark := v.r.cfg.Palette.Paint, v.r.glyphs.ellipsis
	for _, row := range rows {
		name := term.CutMiddle(row.name, nameColumns, mark)
		text := paint(row.tone, row.mark) + " " + name + strings.Repeat(" ", nameColumns-term.Width(name)) +
			gap + paint(row.tone, row.status) + strings.Repeat(" ", statusWidth-len(row.status))
		if details > 0 {
			text += fmt.Sprintf("%s%-*s%s%*s", gap, attemptColumns, row.attempt, gap, elapsedColumns, row.elapsed)
		}
		if barColumns > 0 {
			text += gap + row.bar.painted + strings.Repeat(" ", barColumns-term.Width(row.bar.plain))
		}
		text += gap + term.Cut(row.words, room-nameColumns, mark)
		lines = append(lines, strings.TrimRight(text, " "))
	}
	return lines
}
