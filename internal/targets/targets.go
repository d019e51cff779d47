// Package targets reads a targets file, which lists targets to wait for. The file consists of plain lines, CSV,
// NDJSON, a JSON array or a YAML list.
//
// An entry of the file is a text or an object. A text is a URL, or it replaces the placeholder {} in a template, a
// URL or command with placeholders. An object can have a name, a url or a command, fields that replace
// placeholders such as {.id}, and flags that apply only to the entry.
//
// The files:
//
//	targets.go   the file: its size, the choice of its format, plain lines, batches
//	formats.go   JSON, CSV and YAML, converted to nodes
//	entry.go     an entry from a node: its keys, and its errors
//	template.go  a URL or a command with placeholders
//	text.go      a placeholder in text: its escape in a URL, in JSON or elsewhere
package targets

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
)

const (
	// MaxSize is the maximum size of a targets file in bytes.
	MaxSize = 16 << 20
	// maxYAML is the maximum size of a YAML list in bytes. It is lower because the YAML parser needs about 100
	// times as much memory.
	maxYAML = 4 << 20
	// maxText is the maximum length of an item, a name or a URL in bytes. It is half of the maximum length of an
	// argument on Linux.
	maxText = 64 << 10
	// maxAliased limits how many additional values the aliases in a YAML file may create. This limit rejects a file
	// whose nested aliases would use up the memory.
	maxAliased = 100_000
	// maxEntries is the maximum number of entries in a file.
	maxEntries = 1_000_000
)

// A Config determines how Read interprets a file.
type Config struct {
	// Name is the name of the file for error messages. "-" stands for stdin.
	Name string
	// Template is a URL or command whose placeholders the entries replace. If Template is nil, each entry
	// describes a target by itself.
	Template *Template
	// Texts are values of flags. Each entry replaces the placeholders in Texts as it replaces the placeholders in
	// Template.
	Texts []Text
	// Keys is true if each entry is the key of an element in a list. Such an entry is a text, or an object with
	// only a name.
	Keys bool
}

// Fields returns the names of all fields in Template and Texts, possibly with duplicates. The name "" stands for the
// placeholder {}.
func (c Config) Fields() []string {
	fields := slices.Clone(c.Template.Fields())
	for _, t := range c.Texts {
		fields = append(fields, t.Fields()...)
	}
	return fields
}

// A File is the content of a targets file.
type File struct {
	// Name is the name of the file for error messages.
	Name string
	// Entries lists the targets in the order of the file. It does not contain repeated entries.
	Entries []*Entry
	// Repeats is the number of entries that Entries does not contain because they repeat an earlier entry.
	Repeats int

	config Config
	fields []string        // the fields in the template and in config.Texts
	key    string          // the key of the entry that is being read, or ""
	room   int             // how many more values the settings and commands of all entries may have
	known  map[string]bool // the identities of all entries
	named  map[string]int  // the line of each entry that has a name, by name
	count  int
}

// An Entry describes a target by a URL or a Command. If [Config.Keys] is set, an Entry in [File.Entries] is the key of
// an element. Without a template, only the Line, Name and Item of such an Entry are set. [File.Batches] combines
// several keys in one Entry.
type Entry struct {
	Line int // the line in the file, counted from 1
	// Name is the name that the entry gives to the target, or "". For a text that replaces a placeholder or is a key,
	// Name is the text itself. If the entry gives no name, Name may be the value of its field id.
	Name string
	// Item replaces the placeholder {}. It is the entry's text, or the name of an object.
	Item    string
	URL     string
	Command []string
	Keys    []string // the keys that an entry of [File.Batches] stands for
	// Settings lists the flags that the entry sets, in the order of the file.
	Settings []Setting

	id string // the field id of an object whose fields replace placeholders, or ""
}

// A Setting is a flag with its values. The field Flag is a key in the file: the caller must check whether such a
// flag exists.
type Setting struct {
	Flag  string
	Texts []string
}

// Read parses text, the content of a targets file. If text is invalid, Read returns an [*argv.UsageError] for
// the first problem it finds, and an incomplete File.
func Read(text []byte, c Config) (*File, error) {
	f := &File{Name: c.Name, config: c, fields: c.Fields(), room: len(text)/2 + maxAliased, known: make(map[string]bool), named: make(map[string]int)}
	if c.Name == "-" {
		f.Name = "stdin"
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	err := f.check(text)
	if err == nil {
		err = f.read(text)
		f.nameByID()
	}
	return f, err
}

// nameByID uses the field called id as the name of each entry that has no name. It does so only if each of these
// entries has an id, and no two entries would have the same name.
func (f *File) nameByID() {
	unnamed := slices.DeleteFunc(slices.Clone(f.Entries), func(e *Entry) bool { return e.Name != "" })
	for _, e := range unnamed {
		if e.id == "" || f.named[e.id] > 0 {
			return
		}
		f.named[e.id] = e.Line
	}
	for _, e := range unnamed {
		e.Name = e.id
	}
}

// Batches divides the entries, which are keys, into batches of at most size keys. It returns one entry for each
// batch. The URL or command of this entry is the template, filled with the keys of the batch. Without a template,
// all keys form one batch without a URL or a command.
func (f *File) Batches(size int) (batches []*Entry, err error) {
	if f.config.Template == nil {
		size = max(1, len(f.Entries))
	}
	for some := range slices.Chunk(f.Entries, size) {
		e := new(Entry)
		for _, key := range some {
			e.Keys = append(e.Keys, key.Item)
		}
		if f.config.Template != nil {
			if e.URL, e.Command, err = f.config.Template.Fill(e.Keys); err != nil {
				return nil, argv.Usagef("%w", err)
			}
		}
		batches = append(batches, e)
	}
	return batches, nil
}

// check returns an error if text is too large, contains a NUL byte, or is not valid UTF-8.
func (f *File) check(text []byte) error {
	switch nul := bytes.IndexByte(text, 0); {
	case len(text) > MaxSize:
		return f.wrong(0, "", "it is larger than %d MiB, the most that poll reads", MaxSize>>20)
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return f.wrong(0, "in PowerShell, write UTF-8 with: ... | Set-Content -Encoding utf8 FILE", "it is UTF-16, but poll reads UTF-8 only")
	case nul >= 0:
		return f.wrong(lineOf(text, nul), "write one entry on each line: tr '\\0' '\\n' makes lines of the output of find -print0", "there is a NUL byte, which no text can hold")
	case !utf8.Valid(text):
		return f.wrong(lineOf(text, bytes.IndexRune(text, utf8.RuneError)), "", "a byte that is not UTF-8")
	}
	return nil
}

// read detects the format of text, and reads the entries. The format depends on the first line that is neither
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

// isYAMLEntry reports whether line looks like the start of an entry in a YAML list. The line must not have leading
// space.
func isYAMLEntry(line string) bool {
	return len(line) > 1 && line[0] == '-' && (line[1] == ' ' || line[1] == '\t')
}

// readLines reads entries that are plain lines. It returns an error with a hint if a line looks like an entry in a
// different format.
func (f *File) readLines(text string) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, rest, isKey := strings.Cut(line, ":")
		switch {
		case line == "" || line[0] == '#':
			continue
		case f.count == 0 && strings.HasSuffix(strings.ToLower(f.Name), ".csv") && (strings.Contains(line, ",") || line == "id" || line == keyName || line == keyURL):
			return f.wrong(number, "{.id} is the column id in a URL; for a command: tail -n +2 FILE | cut -d, -f1 | poll --targets - -- COMMAND {}", "{} would be a whole line of a CSV file, also its header")
		case isYAMLEntry(line) || line[0] == '{':
			return f.wrong(number, "write the whole file as plain lines, as JSON, or as YAML", "this line is an entry of another format than the lines before it")
		case f.count == 0 && isKey && (rest == "" || rest[0] == ' ') && slices.Contains([]string{"targets", keyName, keyURL, keyCommand, "until"}, key):
			return f.wrong(number, `in YAML each entry begins with "- ": - `+key+": ...", "the file is a list, but this line is a key of an object")
		}
		if err := f.entry(textNode(line, number)); err != nil {
			return err
		}
	}
	return nil
}
