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
	otherLines   = 4                // the terminal rows that a table of targets leaves free
	shownReasons = 5                // how many of the most common reasons are shown for many targets
	phaseWidth   = len("next 9.9s") // the usual width of a row's next step: a fixed width keeps the columns after it in place
)

// inTable reports whether the terminal shows several targets as a table with a row for each target.
func (v *view) inTable() bool {
	b := v.board
	return v.cfg.Face == Live && !b.single() && b.isFew() && b.size <= v.height()-otherLines
}

// live returns the status lines, which are redrawn at the bottom of the terminal. For a single target, it returns
// one line. For few targets, it returns a table with totals. For many targets, it returns only totals and the most
// common reasons. If the terminal is too narrow, it returns nil.
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

// totals returns the lines about all targets together, followed by a row for each of the first open lists. If the
// targets are not in a table, the lines include the most common reasons.
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

// last returns the table of targets, which remains on the terminal at the end. It returns "" if the targets are
// not in a table, or if poll runs in the background.
func (v *view) last(now time.Time) string {
	if !v.inTable() || !v.cfg.Streams.Foreground() {
		return ""
	}
	return strings.Join(v.table(v.board.rows, now), "\n") + "\n"
}

// table returns a line for each row that is not nil. The line consists of a mark, the name, numbers and the
// reason. On a narrow terminal, the elapsed time is the only number.
func (v *view) table(rows []*boardRow, now time.Time) (lines []string) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row *boardRow) bool { return row == nil })
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

// namesOf returns the names of rows, each followed by two blanks. Except on a wide terminal, it removes the start
// that all names have in common. For a single target, the name is "".
func (v *view) namesOf(rows []*boardRow) []string {
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

// commonPart returns the length of the longest common prefix of names that ends with a slash. It is less than the
// length of every name.
func commonPart(names []string) int {
	first, last, n := slices.Min(names), slices.Max(names), 0
	for n < len(first)-1 && first[n] == last[n] {
		n++
	}
	return strings.LastIndexByte(first[:n], '/') + 1
}

// markOf returns the character at the start of a row. It shows how the target ended, or that an attempt is running.
// A single target that has not ended always counts as running. Any other target has a blank.
func (v *view) markOf(row *boardRow, now time.Time) string {
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

// numbers returns the columns of a row with the attempt's number, the elapsed time, the forecast, the progress bar
// and the next step. The progress bar's column is bars wide, and is missing if bars is 0.
func (v *view) numbers(row *boardRow, now time.Time, bars int) string {
	age, usual := clock(v.board.age(row, now)), v.forecast(row, now)
	switch {
	case v.isNarrow() && v.board.single():
		return age
	case v.isNarrow():
		return fmt.Sprintf("%5s", age)
	}
	text := fmt.Sprintf("%6s", age)
	if row.n == 0 || len(v.board.lists) == 0 { // an element of a list has no attempts of its own
		text = fmt.Sprintf("%-3s ", fmt.Sprintf("#%d", row.attempt)) + text
	}
	if v.board.single() && row.limit > 0 {
		text += "/" + words.Short(row.limit)
	}
	if usual != "" {
		text += ", " + usual
	}
	bar := row.progress.bar(v.glyphs)
	if row.ending == poll.Succeeded && row.progress.share < 1 { // this progress is older than the end of the operation
		bar = ""
	}
	if bars > 0 {
		text += "  " + pad(bar, bars)
	}
	if row.n == 0 && !row.over() {
		text += "  " + pad(row.next(now), phaseWidth)
	}
	return text
}

// wordsOn returns the text at the end of a row: values of the progress, the reason, and why the row is delayed. The
// reason of one of several targets is always brief. Any other reason is shortened only if it is wider than room, a
// number of columns. If no row has a progress bar (bars is 0), the text includes the progress.
func (v *view) wordsOn(row *boardRow, bars, room int) string {
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

// forecast returns how much longer the wait of a row will probably take. It returns "" without a forecast, after the
// end of the wait, and for one of several targets.
func (v *view) forecast(row *boardRow, now time.Time) string {
	if row.n > 0 || row.over() {
		return ""
	}
	return left(v.cfg.Forecast, row.running(now))
}

// outlookOn returns the next step of a row, why the row is delayed, and how much longer it will probably take.
func (v *view) outlookOn(row *boardRow, now time.Time) string {
	return clauses(row.next(now), heldWords(row.held), v.forecast(row, now))
}

// fitted returns reason unchanged, or its brief form if reason is wider than room, a number of columns.
func fitted(reason string, room int) string {
	if term.Width(reason) <= room {
		return reason
	}
	return brief(reason)
}

// brief shortens a reason by removing the condition, which the first line of the output shows: `.state is
// "running", want == "done"` becomes `"running"`. It keeps the path before a value that means nothing alone, such
// as true.
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

// A console writes text to stderr. If status lines are drawn, it keeps them below the text. It ignores write
// errors, which must never end a run.
type console struct {
	w          io.Writer
	foreground func() bool // reports whether poll may draw on the terminal; nil means always
	drawn      string      // the string that drew the current status lines; "" without status lines
}

// eraseLines moves the cursor to the first column and clears the rest of the screen, which contains the status
// lines. If the terminal has become narrower and has wrapped a status line, this clears the wrapped rows as well.
const eraseLines = "\r\x1b[J"

// drawing returns the text that draws the status lines.
//
// It clears the rest of each row after writing the row, so that the lines do not flicker. It leaves the cursor at
// the start of the first row. The cursor stays there if the terminal becomes narrower and wraps the lines. If the
// terminal is resized while it shows the drawing, a row may remain on the screen. Switching off wrapping would be
// worse: if the terminal never received the end of the drawing, wrapping would stay off.
func drawing(lines []string) string {
	text := "\r" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[J\r"
	if up := len(lines) - 1; up > 0 {
		text += fmt.Sprintf("\x1b[%dA", up)
	}
	return text
}

// inBackground reports whether the terminal belongs to another process group, so that poll must not write to the
// terminal. If so, inBackground also forgets the status lines, which poll can no longer erase.
func (c *console) inBackground() bool {
	if c.foreground == nil || c.foreground() {
		return false
	}
	c.drawn = ""
	return true
}

// print writes whole lines above the status lines.
func (c *console) print(text string) {
	if c.drawn != "" && text != "" {
		text = eraseLines + text + c.drawn
	}
	c.write(text)
}

// draw replaces the status lines with lines. The terminal must have more rows than there are lines.
func (c *console) draw(lines []string) {
	c.drawn = drawing(lines)
	c.write(c.drawn)
}

// finish erases the status lines, and writes text in their place.
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
