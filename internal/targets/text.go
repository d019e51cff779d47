package targets

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// decode takes the text of a file, unless it is none that can be read.
func (f *File) decode(text []byte) bool {
	const bom = "\ufeff"
	if len(text) > MaxSize {
		f.rejectFile(fmt.Sprintf("it is larger than %d MiB, the most that is read", MaxSize>>20), "")
		return false
	}
	f.text = strings.TrimPrefix(string(text), bom)
	if strings.HasPrefix(f.text, "\xff\xfe") || strings.HasPrefix(f.text, "\xfe\xff") {
		f.rejectFile("it is UTF-16, and only UTF-8 is read", "PowerShell writes UTF-8 by: ... | Set-Content -Encoding utf8 FILE")
	} else if !utf8.ValidString(f.text) || strings.Contains(f.text, "\x00") {
		f.rejectBytes()
	}
	return f.found == 0
}

// rejectBytes notes the first byte of each line that belongs to no text.
func (f *File) rejectBytes() {
	at := 0
	for line := range strings.Lines(f.text) {
		for i, r := range line {
			_, size := utf8.DecodeRuneInString(line[i:])
			if r == 0 {
				f.rejectAt(at+i, "a NUL byte, which no text holds", "write one entry a line: tr '\\0' '\\n' makes lines of what find -print0 writes")
			} else if r == utf8.RuneError && size == 1 {
				f.rejectAt(at+i, "a byte that is not UTF-8", "")
			} else {
				continue
			}
			break
		}
		at += len(line)
	}
}

// A format is how a file is written.
type format uint8

const (
	formatLines format = iota
	formatJSON         // a list, or values one after the other
	formatYAML
)

// detect tells the format by how the first line begins that is neither blank nor a
// comment, and where that line is.
func (f *File) detect() (format, int) {
	at := 0
	for line := range strings.Lines(f.text) {
		word := strings.TrimSpace(line)
		switch {
		case word == "" || word[0] == '#':
			at += len(line)
			continue
		case word[0] == '[' || word[0] == '{' || word[0] == '"':
			return formatJSON, at
		case word == "-" || isYAMLEntry(word) || strings.HasPrefix(word, "---") || strings.HasPrefix(word, "%YAML"):
			return formatYAML, at
		}
		break
	}
	return formatLines, at
}

// isYAMLEntry reports whether a line without the space before it begins an entry of a
// YAML list.
func isYAMLEntry(line string) bool {
	return len(line) > 1 && line[0] == '-' && (line[1] == ' ' || line[1] == '\t')
}

// readLines reads plain lines.
func (f *File) readLines() {
	at, number := 0, 0
	for line := range strings.Lines(f.text) {
		number++
		text := strings.TrimLeft(line, " \t")
		start := at + len(line) - len(text)
		text = strings.TrimRight(text, " \t\r\n")
		at += len(line)
		switch {
		case text == "" || text[0] == '#':
			continue
		case f.full(start):
			return
		case isYAMLEntry(text) || text[0] == '{':
			f.rejectAt(start, "this line is an entry of another format than the lines before it",
				"a file is all plain lines, all JSON or all YAML")
		case f.count == 0 && f.isMapping(text):
			f.rejectAt(start, "the file is a list, and this line is a key of an object",
				`in YAML each entry begins with "- ": - `+text[:strings.IndexByte(text, ':')]+": ...")
			return
		default:
			f.entry(start, node{kind: kindText, Value: Value{Text: text, at: start}})
		}
	}
}

// isMapping reports whether a line is that of a YAML object with a key that an entry or
// a list of targets would have.
func (f *File) isMapping(line string) bool {
	key, rest, found := strings.Cut(line, ":")
	return found && (rest == "" || rest[0] == ' ') && (key == "targets" || f.isKey(key))
}

// isKey reports whether an entry may have a key, apart from the fields of a template.
func (f *File) isKey(key string) bool {
	_, isFlag := f.config.Flags[key]
	return isFlag || key == keyName || key == keyURL || key == keyCommand
}
