package main

import (
	"fmt"
	"html"
	"strings"
)

// The measures of a picture, in pixels.
const (
	columnWidth = 8.4
	rowHeight   = 20
	margin      = 14
)

// opening needs the width and the height. Without animations the last screen is
// shown.
const opening = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d">
<title>poll waits for a job</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;visibility:hidden}
.dim{fill:#7b8494}.cyan{fill:#56c8d8}.yellow{fill:#e5c07b}.green{fill:#7ec86f}.red{fill:#ef6b73}.bold{font-weight:bold}
@keyframes shown{from,to{visibility:visible}}
@keyframes hidden{from,to{visibility:hidden}}
.past{animation:shown 1s}
.last{animation:hidden 1s;visibility:visible}
@media(prefers-reduced-motion:reduce){.past,.last{animation:none}}
</style>
<rect width="%[1]d" height="%[2]d" rx="8" fill="#1b1f27"/>
`

// draw returns the picture of what a terminal showed.
func draw(lines []line) string {
	rows, columns := 0, 0
	var b strings.Builder
	for _, l := range lines {
		rows, columns = max(rows, l.row+1), max(columns, len(l.cells))
		class, delay, duration := "past", l.from, l.to-l.from
		if l.to == 0 {
			// What stays is hidden until it comes.
			class, delay, duration = "last", 0, l.from
		}
		fmt.Fprintf(&b, `<text class="%s" y="%d" style="animation-delay:%.2fs;animation-duration:%.2fs">%s</text>`+"\n",
			class, margin+rowHeight*(l.row+1)-6, delay.Seconds(), duration.Seconds(), l.cells)
	}
	return fmt.Sprintf(opening, 2*margin+int(columnWidth*float64(columns)), 2*margin+rowHeight*rows) + b.String() + "</svg>\n"
}

// String returns a row as elements of an SVG, one for each run of a style. Blanks
// are where there is no element.
func (r row) String() string {
	var b strings.Builder
	for x := 0; x < len(r); {
		end := x
		for end < len(r) && r[end].style == r[x].style && !(r[end].char == ' ' && end > x && r[end-1].char == ' ') {
			end++
		}
		var text strings.Builder
		for _, c := range r[x:end] {
			text.WriteRune(c.char)
		}
		b.WriteString(span(x, r[x].style, text.String()))
		x = end
	}
	return b.String()
}

func span(column int, style, text string) string {
	trimmed := strings.TrimLeft(text, " ")
	column += len(text) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" {
		return ""
	}
	if style != "" {
		style = fmt.Sprintf(` class="%s"`, style)
	}
	return fmt.Sprintf(`<tspan x="%.1f" textLength="%.1f"%s>%s</tspan>`, margin+columnWidth*float64(column),
		columnWidth*float64(len([]rune(trimmed))), style, html.EscapeString(trimmed))
}
