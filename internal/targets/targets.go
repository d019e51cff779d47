// Package targets reads a targets file: a list of targets as plain lines, CSV, NDJSON, a JSON list or a YAML
// list.
//
// An entry is a text or an object. A text is a URL, or an item that fills a template. An object has a name, a
// url or a command, fields for the template, and flags that apply only to the entry.
package targets

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxSize is the size of the largest targets file, in bytes.
	MaxSize = 16 << 20
	// maxYAML is the size of the largest YAML list, in bytes. The YAML parser takes 100 times as much memory.
	maxYAML = 4 << 20
	// maxText is the length of the longest item, name or URL, in bytes. Linux allows arguments of twice this
	// length.
	maxText = 64 << 10
	// maxEntries is the highest number of entries in a file.
	maxEntries = 1_000_000
)

// A Config sets how a file is read.
type Config struct {
	// Name is the name of the file in errors. "-" means stdin.
	Name string
	// Template is the URL or command that the entries fill. If it is nil, each entry is a target by itself.
	Template *Template
	// Texts are the values of flags that the entries fill, too.
	Texts []Text
	// Keys means that each entry is the key of an element in a list: a text, or an object with only a name.
	Keys bool
}

// A File is a targets file that was read.
type File struct {
	// Name is the name of the file in errors.
	Name string
	// Entries are the targets in the order of the file, without repeated entries.
	Entries []*Entry
	// Repeats is the number of entries that were left out because they repeat an earlier entry.
	Repeats int

	config Config
	known  map[string]bool // by identity: true if there is such an entry
	named  map[string]int  // the lines of entries, by name
	count  int
}

// An Entry is a target, with either a URL or a Command. If [Config.Keys] is set, an Entry is the key of an element, and
// only its Name is used.
type Entry struct {
	Line int // from 1
	// Name is the name in the entry. If the entry is a text that fills a template or is a key, Name is the item.
	// It is "" for an entry without a name.
	Name string
	// Item is the value of {}: the text of the entry, or the name of an object.
	Item    string
	URL     string
	Command []string
	// Settings are the flags that the entry sets, in the order of the entry.
	Settings []Setting
}

// A Setting is a flag with its values. Flag is a key of the entry; the caller checks whether there is such a
// flag.
type Setting struct {
	Flag  string
	Texts []string
}

// Read reads text, the content of a targets file. The error is an [*Error] about the first problem. The result
// is then incomplete.
func Read(text []byte, c Config) (*File, error) {
	f := &File{Name: c.Name, config: c, known: make(map[string]bool), named: make(map[string]int)}
	if c.Name == "-" {
		f.Name = "stdin"
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	err := check(text)
	if err == nil {
		err = f.read(text)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.File = f.Name
	}
	return f, err
}

// check returns an error if text is too large, or is not UTF-8 without NUL bytes.
func check(text []byte) error {
	switch nul := bytes.IndexByte(text, 0); {
	case len(text) > MaxSize:
		return wrong(0, "", "it is larger than %d MiB, the most that poll reads", MaxSize>>20)
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return wrong(0, "in PowerShell, write UTF-8 with: ... | Set-Content -Encoding utf8 FILE", "it is UTF-16, but poll reads UTF-8 only")
	case nul >= 0:
		return wrong(lineOf(text, nul), "write one entry on each line: tr '\\0' '\\n' makes lines of the output of find -print0", "there is a NUL byte, which no text can hold")
	case !utf8.Valid(text):
		return wrong(lineOf(text, bytes.IndexRune(text, utf8.RuneError)), "", "a byte that is not UTF-8")
	}
	return nil
}

// read reads text in its format. The start of the first line that is neither blank nor a comment shows the
// format.
func (f *File) read(text []byte) error {
	at := 0
	for line := range bytes.Lines(text) {
		word := string(bytes.TrimSpace(line))
		switch {
		case word == "" || word[0] == '#':
			at += len(line)
			continue
		case strings.IndexByte(`[{"`, word[0]) >= 0:
			return f.readJSON(text, at)
		case f.isHeader(word):
			return f.readCSV(text)
		case word == "-" || isYAMLEntry(word) || strings.HasPrefix(word, "---") || strings.HasPrefix(word, "%YAML"):
			return f.readYAML(text)
		}
		break
	}
	return f.readLines(string(text))
}

// isYAMLEntry reports whether line starts an entry of a YAML list. line has no leading space.
func isYAMLEntry(line string) bool {
	return len(line) > 1 && line[0] == '-' && (line[1] == ' ' || line[1] == '\t')
}

// readLines reads plain lines. It returns an error with a hint if a line looks like an entry in another format.
func (f *File) readLines(text string) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, rest, isKey := strings.Cut(line, ":")
		switch {
		case line == "" || line[0] == '#':
			continue
		case f.count == 0 && strings.HasSuffix(strings.ToLower(f.Name), ".csv") && strings.Contains(line, ","):
			return wrong(number, "below a line that names the columns, {.id} is the column id", "a line of a CSV file has several values, and {} would be all of them")
		case isYAMLEntry(line) || line[0] == '{':
			return wrong(number, "write the whole file as plain lines, as JSON, or as YAML", "this line is an entry of another format than the lines before it")
		case f.count == 0 && isKey && (rest == "" || rest[0] == ' ') && slices.Contains([]string{"targets", keyName, keyURL, keyCommand, "until"}, key):
			return wrong(number, `in YAML each entry begins with "- ": - `+key+": ...", "the file is a list, but this line is a key of an object")
		}
		if err := f.entry(node{kind: kindText, text: line, line: number}); err != nil {
			return err
		}
	}
	return nil
}
