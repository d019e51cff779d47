// Package targets reads a targets file: a list of targets as plain lines, CSV, NDJSON, a JSON list or a YAML list.
//
// An entry is a text, which is a URL or an item that fills a template, or an object with
// a name, a url or a command, fields for the template, and flags that it sets for itself.
package targets

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/connect"
)

const (
	// MaxSize is how large a targets file may be, in bytes.
	MaxSize = 16 << 20
	// maxYAML is how large a YAML list may be. Its parser takes 100 times as much memory.
	maxYAML = 4 << 20
	// maxText is the longest item, name or URL. Linux takes arguments twice as long.
	maxText = 64 << 10
	// maxEntries is how many entries a file may have.
	maxEntries = 1_000_000
)

// A Config says how a file is read.
type Config struct {
	// Name is what errors call the file; "-" is stdin.
	Name string
	// Template is what the entries fill. Without one, each is a target by itself.
	Template *Template
	// Texts are values of flags that the entries fill, too.
	Texts []Text
	// Keys makes each entry the key of an element in a list: a text, or an object with only a
	// name.
	Keys bool
}

// A File is a targets file that was read.
type File struct {
	// Name is what errors call the file.
	Name string
	// Entries are the targets in the order of the file, each once.
	Entries []*Entry
	// Repeats is how many entries were left out, since each is the same as an earlier one.
	Repeats int

	config Config
	known  map[string]bool // by all that makes an entry this one
	named  map[string]int  // the lines of names
	count  int
}

// An Entry is a target. Either URL or Command is set.
type Entry struct {
	Line int // from 1
	// Name is the name that the entry gives or, with a template, the item; "" if none.
	Name string
	// Item is what {} stands for: the text of the entry, or the name of an object.
	Item    string
	URL     string
	Command []string
	// Settings are the flags that the entry sets, in its order.
	Settings []Setting
}

// A Setting is a key with its values, which is to be the name of a flag.
type Setting struct {
	Flag  string
	Texts []string
}

// An Error is what is wrong in a targets file, or in a template. It repeats nothing of it but a key
// or a field.
type Error struct {
	File string // "" for a template
	Line int    // from 1; 0 if it is all of it
	Err  error
	Hint string // "" for none
}

// Error returns the place and the message: "targets.yaml:14: until: it is empty".
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Err.Error()
	case e.Line == 0:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// wrong makes an error about a line, which the reader of the file completes.
func wrong(line int, hint, format string, args ...any) *Error {
	return &Error{Line: line, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Read reads the text of a file. The error is an [*Error]: the first one.
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

// check refuses what is no text.
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

// lineOf returns the line of a byte.
func lineOf(text []byte, at int) int {
	return 1 + bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n"))
}

// read reads the text in the format that it has, by how the first line begins that is neither
// blank nor a comment.
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

// isYAMLEntry reports whether a line without the space before it begins an entry of a
// YAML list.
func isYAMLEntry(line string) bool {
	return len(line) > 1 && line[0] == '-' && (line[1] == ' ' || line[1] == '\t')
}

// readLines reads plain lines.
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

// add takes an entry, unless it repeats another.
func (f *File) add(e *Entry) error {
	id := e.identity()
	if f.known[id] {
		f.Repeats++
		return nil
	}
	f.known[id] = true
	if line := f.named[e.Name]; e.Name != "" && line > 0 {
		return wrong(e.Line, "give each a name of its own", "another target, of line %d, has the same name", line)
	}
	f.named[e.Name] = e.Line
	f.Entries = append(f.Entries, e)
	return nil
}

// identity is equal for two entries that are the same target.
func (e *Entry) identity() string {
	page := fmt.Sprint(connect.PageOf(e.URL))
	if e.Settings == nil && e.Command == nil && e.Name == "" {
		return page
	}
	settings := slices.SortedFunc(slices.Values(e.Settings), func(a, b Setting) int { return cmp.Compare(a.Flag, b.Flag) })
	return fmt.Sprintf("%q %q %q %q", e.Name, page, e.Command, settings)
}
