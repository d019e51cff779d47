package targets

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An index finds positions in a text, both ways. Lines and columns are counted from 1,
// columns in characters.
type index struct {
	text  string
	lines []mark // where the lines begin
	marks []mark // every so many characters, since a line may be long
}

// A mark is a place in a text: so many bytes, and so many characters, lie before it.
type mark struct{ at, runes int }

const markEvery = 256

func newIndex(text string) *index {
	x := &index{text: text, lines: []mark{{}}}
	runes := 0
	for i, r := range text {
		if runes%markEvery == 0 {
			x.marks = append(x.marks, mark{i, runes})
		}
		runes++
		if r == '\n' {
			x.lines = append(x.lines, mark{i + 1, runes})
		}
	}
	return x
}

// position returns the line and the column of a byte.
func (x *index) position(at int) (line, column int) {
	line = sort.Search(len(x.lines), func(i int) bool { return x.lines[i].at > at })
	return line, x.runesBefore(at) - x.lines[line-1].runes + 1
}

func (x *index) runesBefore(at int) int {
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].at > at })
	if i == 0 {
		return 0
	}
	m := x.marks[i-1]
	return m.runes + utf8.RuneCountInString(x.text[m.at:min(at, len(x.text))])
}

// offset returns the byte at a line and a column.
func (x *index) offset(line, column int) int {
	if line < 1 || line > len(x.lines) {
		return len(x.text)
	}
	runes := x.lines[line-1].runes + column - 1
	if runes/markEvery >= len(x.marks) {
		return len(x.text)
	}
	m := x.marks[runes/markEvery]
	at := m.at
	for range runes - m.runes {
		_, size := utf8.DecodeRuneInString(x.text[at:])
		at += size
	}
	return at
}

// inSource returns where a byte of a value's text stands in the file. Where lines are
// folded, the space between two words counts as one piece.
func (v *Value) inSource(file string, offset int) int {
	at, i := v.at, 0
	skipSpace := func() {
		const space = " \t\r\n"
		at = len(file) - len(strings.TrimLeft(file[at:], space))
		i = len(v.Text) - len(strings.TrimLeft(v.Text[i:], space))
	}
	switch v.form {
	case formNone:
		return at
	case formSingle, formDouble:
		at++
	case formBlock:
		at += strings.IndexByte(file[at:]+"\n", '\n')
		skipSpace()
	}
	offset = min(offset, len(v.Text))
	for blank := false; at < len(file); blank = isBlank(file[at-1]) {
		isEnd := !blank && endsLine(file[at:])
		size, decoded := v.form.next(file[at:])
		switch {
		case i >= offset && (isEnd || decoded):
			return at
		case isEnd:
			skipSpace()
		default:
			at = min(at+size, len(file))
			if decoded {
				_, size = utf8.DecodeRuneInString(v.Text[i:])
				i += size
			}
		}
	}
	return len(file)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// endsLine reports whether nothing but blanks is left of a line.
func endsLine(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n")
}

// next returns how long the next piece of a text is as it is written, and whether it
// stands for a character.
func (f form) next(rest string) (size int, decoded bool) {
	switch {
	case f == formSingle && strings.HasPrefix(rest, "''"):
		return 2, true
	case f != formDouble || rest[0] != '\\' || len(rest) == 1:
		_, size = utf8.DecodeRuneInString(rest)
		return size, true
	}
	switch rest[1] {
	case 'x':
		return 4, true
	case 'U':
		return 10, true
	case 'u':
		if unit, err := strconv.ParseUint(rest[2:min(6, len(rest))], 16, 16); err == nil &&
			utf16.IsSurrogate(rune(unit)) && strings.HasPrefix(rest[min(6, len(rest)):], `\u`) {
			return 12, true
		}
		return 6, true
	case '\n', '\r': // the line goes on
		return len(rest) - len(strings.TrimLeft(rest[1:], " \t\r\n")), false
	}
	return 2, true
}
