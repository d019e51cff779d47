package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

const (
	otherLines   = 4                // of the terminal, which a table leaves free
	shownReasons = 5                // of many targets, the most common ones
	phaseWidth   = len("next 9.9s") // the usual width, so that the columns after it do not move
)

// inTable reports whether each of several targets has a row in a table on the terminal.
func (v *view) inTable() bool {
	b := v.board
	return v.cfg.Face == Live && !b.single() && b.few() && b.size <= v.height()-otherLines
}

// live returns the status lines: one line for a single wait, a table of few targets, and counts and
// the most common reasons of many.
func (v *view) live(now time.Time) []string {
	switch {
	case v.width() < leastColumns:
		return nil
	case v.board.single():
		return v.table(v.board.rows, now)
	case v.inTable():
		return append(v.table(v.board.rows, now), v.totals(now)...)
	}
	return v.totals(now)
}

// totals returns the lines about all targets, with the most common reasons unless the targets are in a table.
func (v *view) totals(now time.Time) []string {
	b, elapsed := v.board, clock(v.board.at(now))
	frame, counts := v.glyphs.frame(b.at(now))+" ", b.states()
	if !v.isNarrow() {
		counts += "  (" + b.goal + ")"
		if d := v.cfg.Timeout; d > 0 {
			elapsed += "/" + words.Short(d)
		}
	}
	lines := []string{frame + elapsed + "  " + counts}
	if ended := b.endings(); !v.inTable() {
		bar := v.glyphs.bar(float64(b.size-ended[""]) / float64(max(1, b.size)))
		done := fmt.Sprintf("%s  %d of %d done  ", bar, ended[poll.Succeeded], b.size)
		lines = []string{frame + done + elapsed, "  " + counts}
		for _, most := range b.commonest(shownReasons) {
			count := fmt.Sprintf("  %*d  ", len(fmt.Sprint(b.size)), len(most))
			lines = append(lines, count+fitted(most.reason(), v.width()-len(count)))
		}
	}
	for i := range lines {
		lines[i] = v.cut(lines[i], v.width())
	}
	return append(lines, v.table(b.open(), now)...)
}

// last returns the lines of a table that stay at the end.
func (v *view) last(now time.Time) string {
	if !v.inTable() || !v.cfg.Streams.Foreground() {
		return ""
	}
	return strings.Join(v.table(v.board.rows, now), "\n") + "\n"
}

// table returns a line for each row that has had an event: a mark, the name, numbers and words. On a narrow
// terminal the time is the only number.
func (v *view) table(rows []*Row, now time.Time) (lines []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return row == nil })
	names, width, bars := v.namesOf(rows), 0, 0
	for i, row := range rows {
		width = max(width, term.Width(names[i]))
		if v.board.single() && !v.isNarrow() || v.width() >= wide {
			bars = max(bars, term.Width(row.progress.bar(v.glyphs)))
		}
	}
	for i, row := range rows {
		mark := v.markOf(row, now)
		text := pad(names[i], width) + v.numbers(row, now, bars) + "  "
		text += v.wordsOn(row, bars, v.width()-term.Width(mark+" "+text))
		text = v.cut(text, v.width()-term.Width(mark+" "))
		lines = append(lines, strings.TrimRight(v.cfg.Palette.Paint(row.tone(), mark)+" "+text, " "))
	}
	return lines
}

// namesOf returns the names of rows, each with a gap, and "" for a single wait. The part that all names
// start with is left out, except on a wide terminal.
func (v *view) namesOf(rows []*Row) []string {
	names, common := make([]string, len(rows)), 0
	if v.board.single() {
		return names
	}
	for i, row := range rows {
		names[i] = oneLine(row.name)
	}
	if v.width() < wide && len(rows) > 1 {
		common = commonPart(names)
	}
	for i, name := range names {
		names[i] = term.CutFront(name[common:], 2*v.width()/5, v.glyphs.ellipsis) + "  "
	}
	return names
}

// commonPart returns the length of the text that all names start with, up to a slash. Something of each name is
// left.
func commonPart(names []string) int {
	first, last, n := slices.Min(names), slices.Max(names), 0
	for n < len(first)-1 && first[n] == last[n] {
		n++
	}
	return strings.LastIndexByte(first[:n], '/') + 1
}

// markOf returns a sign for how a target ended, or for an attempt that is under way.
func (v *view) markOf(row *Row, now time.Time) string {
	switch {
	case meaningOf(row.ending).status == status.Success:
		return v.glyphs.good
	case row.hasFailed():
		return v.glyphs.bad
	case row.over():
		return v.glyphs.empty
	case row.phase == poll.EventStart, v.board.single():
		return v.glyphs.frame(v.board.at(now))
	}
	return " "
}

// numbers returns the attempt, the time, the bar and the phase of a row.
func (v *view) numbers(row *Row, now time.Time, bars int) string {
	age, usual := clock(v.board.age(row, now)), v.forecast(row, now)
	if v.isNarrow() {
		return age
	}
	text := fmt.Sprintf("%6s", age)
	if row.n == 0 || len(v.board.lists) == 0 { // an element is seen in the attempts of its list
		text = fmt.Sprintf("%-3s ", fmt.Sprintf("#%d", row.attempt)) + text
	}
	if v.board.single() && row.limit > 0 {
		text += "/" + words.Short(row.limit)
	}
	if usual != "" {
		text += ", " + usual
	}
	if bars > 0 {
		text += "  " + pad(row.progress.bar(v.glyphs), bars)
	}
	if row.n == 0 && !row.over() {
		text += "  " + pad(row.next(now), phaseWidth)
	}
	return text
}

// wordsOn returns the reason of a row. The reason is brief in a row of several
// targets. The progress is among the words if no row has room for its bar.
func (v *view) wordsOn(row *Row, bars, room int) string {
	text, progress := fitted(row.reason, room), row.progress.others
	if row.n > 0 {
		text = brief(row.reason)
	}
	if bars == 0 {
		progress = row.progress.words()
	}
	switch {
	case row.ending == poll.Cancelled:
		return string(row.ending)
	case row.over():
		return text
	case text == "" && v.board.single():
		text = oneLine(row.name)
	}
	return clauses(progress, text, heldWords(row.held))
}

// forecast returns how long a wait or a list may last from now on, "" without a forecast.
func (v *view) forecast(row *Row, now time.Time) string {
	if row.n > 0 || row.over() {
		return ""
	}
	return left(v.cfg.Forecast, row.running(now))
}

// outlookOn returns the next step of a row, and how long the row may take by past runs.
func (v *view) outlookOn(row *Row, now time.Time) string {
	return clauses(row.next(now), heldWords(row.held), v.forecast(row, now))
}

// fitted returns a reason, in brief if it has more columns than there is room.
func fitted(reason string, room int) string {
	if term.Width(reason) <= room {
		return reason
	}
	return brief(reason)
}

// brief returns a reason without its condition, which the opening line has: "running" for
// `.state is "running", want == "done"`. Values that mean nothing alone keep their path.
func brief(reason string) string {
	subject, value, isValue := strings.Cut(reason, " is ")
	if !isValue || strings.Contains(subject, " ") {
		return reason
	}
	value, wanted, _ := strings.Cut(value, ", want ")
	_, detail, _ := strings.Cut(wanted, ": ")
	if !strings.ContainsAny(value[:min(1, len(value))], `"-0123456789`) {
		value = subject + " is " + value
	}
	return joined(": ", value, detail)
}

// A console writes to stderr, above status lines if any are drawn. Write errors are
// ignored: they never end a run.
type console struct {
	w          io.Writer
	foreground func() bool // reports whether drawing is allowed; nil for always
	drawn      string      // the text that drew the status lines, or ""
}

// eraseLines goes to the first column and clears the rest of the screen: the status
// lines, or the rows into which the terminal wrapped them when it became narrower.
const eraseLines = "\r\x1b[J"

// drawing returns the text that draws status lines. The rest of each row is cleared
// afterwards, so that nothing flickers. The cursor is left in the first column of
// the first row, where it stays if the terminal becomes narrower and wraps the lines. If that
// happens within a drawing, a row of the drawing may be left. Switching the wrapping off would be worse:
// if the end of the drawing is never read, the terminal would stay in that mode.
func drawing(lines []string) string {
	text := "\r" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[J\r"
	if up := len(lines) - 1; up > 0 {
		text += fmt.Sprintf("\x1b[%dA", up)
	}
	return text
}

// inBackground reports whether the terminal belongs to another process group. The status lines
// are then no longer erased.
func (c *console) inBackground() bool {
	if c.foreground == nil || c.foreground() {
		return false
	}
	c.drawn = ""
	return true
}

// say writes whole lines, above the status lines.
func (c *console) say(text string) {
	if c.drawn != "" && text != "" {
		text = eraseLines + text + c.drawn
	}
	c.write(text)
}

// draw replaces the status lines. There must be fewer lines than rows of the
// terminal.
func (c *console) draw(lines []string) {
	c.drawn = drawing(lines)
	c.write(c.drawn)
}

// finish writes the last lines in place of the status lines.
func (c *console) finish(text string) {
	if c.drawn != "" {
		text = eraseLines + text
	}
	c.drawn = ""
	c.write(text)
}

func (c *console) write(text string) {
	if text != "" {
		_, _ = io.WriteString(c.w, text)
	}
}
