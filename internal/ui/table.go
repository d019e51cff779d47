package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

const (
	wide        = 99               // columns, with fewer of which names and words leave no room for bars
	narrow      = 60               // columns, with fewer of which a row is a name, words and the time
	statusWidth = len("NOT_READY") // columns of a status
	phaseWidth  = len("next 9.9s") // the usual width, so that the words do not jump
)

// table returns a line for each row that has had an event.
func (r *Reporter) table(rows []*Row, now time.Time) (lines []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return row == nil })
	names, width, bars, states := r.namesOf(rows), 0, 0, statusWidth
	for i, row := range rows {
		states = max(states, len(r.stateOf(row)))
		width = max(width, term.Width(names[i]))
		if r.board.single() || r.width() >= wide {
			bars = max(bars, term.Width(row.progress.bar(r.glyphs)))
		}
	}
	for i, row := range rows {
		mark, name, word, tone := r.markOf(row, now), pad(names[i], width), r.stateOf(row), row.tone()
		facts := pad("", states-len(word)) + r.facts(row, now, bars)
		if r.isNarrow() {
			age := "  " + clock(r.board.age(row, now))
			word, facts = "", r.cut(r.wordsOn(row, now, 0), r.width()-term.Width(mark+" "+name+age))+age
		}
		room := r.width() - term.Width(mark+" "+name+word)
		line := r.cfg.Palette.Paint(tone, mark) + " " + name + r.cfg.Palette.Paint(tone, word) + r.cut(facts, room)
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// namesOf returns the names of rows, each with a gap, nothing for a single wait. On a narrow terminal
// they lack the part that all begin with.
func (r *Reporter) namesOf(rows []*Row) []string {
	names, common := make([]string, len(rows)), 0
	if r.board.single() {
		return names
	}
	for i, row := range rows {
		names[i] = oneLine(row.name)
	}
	if r.isNarrow() && len(rows) > 1 {
		common = commonPart(names)
	}
	for i, name := range names {
		names[i] = term.CutFront(name[common:], 2*r.width()/5, r.glyphs.ellipsis) + "  "
	}
	return names
}

// commonPart returns the length of what all names begin with, up to a sign between two of their parts. It
// leaves something of each.
func commonPart(names []string) int {
	first := names[0]
	for _, name := range names {
		for first != "" && (len(first) >= len(name) || !strings.HasPrefix(name, first)) {
			first = first[:len(first)-1]
		}
	}
	return strings.LastIndexAny(first, "/:.-_ ") + 1
}

// stateOf returns the state of a row, whose mark says whether it is still that. A list that can be read has
// none of its own beside those of its elements.
func (r *Reporter) stateOf(row *Row) string {
	if row.n == 0 && !r.board.single() && !row.trouble && !row.over() {
		return ""
	}
	return strings.TrimPrefix(row.state(), "still ")
}

// pad fills text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-term.Width(text)))
}

// markOf says in a sign where a target stands.
func (r *Reporter) markOf(row *Row, now time.Time) string {
	switch {
	case row.over():
		return r.glyphs.ended(row)
	case row.busy(), r.board.single():
		return r.glyphs.frame(r.board.at(now))
	}
	return " "
}

// ended says in a sign how a target ended. What is not done has not failed.
func (g glyphs) ended(row *Row) string {
	switch meaningOf(row.ending).status {
	case status.Success:
		return g.good
	case status.Error:
		return g.bad
	}
	return g.empty
}

// facts says what is known of a row: figures, where there is room, and words.
func (r *Reporter) facts(row *Row, now time.Time, bars int) string {
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
	return text + "  " + r.wordsOn(row, now, bars)
}

// wordsOn says why a target stands there and what is known of the next attempt and, of a single
// wait, of past runs. The progress is among the words if no row has room for its bar.
func (r *Reporter) wordsOn(row *Row, now time.Time, bars int) string {
	text, progress := r.brief(row.reason), row.progress.others
	if bars == 0 {
		progress = row.progress.words()
	}
	if row.over() {
		return text
	} else if row.n > 0 {
		return clauses(heldWords(row.held), progress, text)
	}
	usual := r.forecast(row.operation(now))
	if row.judged == 0 && usual == "" && r.board.single() {
		text = oneLine(row.name)
	}
	if row.judged == 0 || !row.tellsHint {
		text += row.hint
	}
	return clauses(heldWords(row.held), progress, text, usual)
}

// brief returns a reason, on a narrow terminal only the value, which is what differs, and the answer's own words:
// the opening line says what is wanted.
func (r *Reporter) brief(reason string) string {
	subject, value, isValue := strings.Cut(reason, " is ")
	if !isValue || !r.isNarrow() || strings.Contains(subject, " ") {
		return reason
	}
	value, wanted, _ := strings.Cut(value, ", want ")
	_, detail, _ := strings.Cut(wanted, ": ")
	return joined(": ", value, detail)
}
