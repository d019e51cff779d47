// Package targets reads a targets file: a list of what is waited for, as plain lines,
// NDJSON, a JSON list or a YAML list.
//
// An entry is a text, which is a URL or an item that fills a template, or an object with
// a name, a url or a command, fields for the template, and flags that it sets for itself.
package targets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	// Flags are the flags by their names.
	Flags map[string]Flag
	// Synonyms maps what other programs call a flag to its name here. It may be nil.
	Synonyms map[string]string
	// Template is what the entries fill. Without one, each is a target by itself.
	Template *Template
	// Keys makes each entry the key of an element in a list: a text, or an object with only a
	// name.
	Keys bool
}

// A Flag says what an entry may make of a flag.
type Flag struct {
	Many       bool // it may be repeated: the value may be a list
	Switch     bool // its value is true or false
	Secret     bool // an error shows no value of it
	MayBeEmpty bool // the empty text is a value
	Common     bool // it holds for all targets: an entry cannot set it
}

// A File is a targets file that was read. What is wrong with it is collected, so that
// all of it can be shown: see [File.Err].
type File struct {
	// Entries are the targets in the order of the file, each once. An entry that is wrong
	// may be missing.
	Entries []*Entry
	// Repeats are entries that were left out, since each is the same as an earlier one.
	Repeats []Repeat

	config    Config
	text      string
	positions *index // made when it is needed
	known     map[identity]*Entry
	named     map[string]*Entry
	count     int       // of all entries, also wrong ones
	findings  []finding // the first, in the order of the file
	found     int       // how many there are
}

// A Repeat is the line of an entry, and that of an earlier one that is the same.
type Repeat struct{ Line, First int }

// An Entry is a target. Either URL or Command is set.
type Entry struct {
	Line, Column int // from 1; the column is in characters

	// Name is the name that the entry gives or, with a template, the item; "" if none.
	Name string
	// Item is what {} stands for: the text of the entry, or the name of an object.
	Item    string
	URL     string
	Command []string
	// Settings are the flags that the entry sets, in its order.
	Settings []Setting

	start int    // where it begins, in bytes
	at    Value  // its text, or that of its url
	key   string // the key of that text, "" if it is the entry
}

// A Setting is a flag with its values: one, unless the flag may be repeated. That of a
// switch is "true" or "false".
type Setting struct {
	Flag   string
	Values []Value
}

// Texts returns the values.
func (s *Setting) Texts() []string {
	texts := make([]string, len(s.Values))
	for i, v := range s.Values {
		texts[i] = v.Text
	}
	return texts
}

// A Value is a text with the place in the file where it stands.
type Value struct {
	Text string
	at   int // where it begins, in bytes
	form form
}

// A form is how a value is written.
type form uint8

const (
	formPlain  form = iota
	formSingle      // in single quotes
	formDouble      // in double quotes
	formBlock       // below | or >
	formNone        // not at all: it is a list or an object
)

// Read reads the text of a file. [File.Err] says what is wrong with it; what else the
// caller finds wrong with an entry is added by [File.Reject] and [File.RejectSetting].
func Read(text []byte, c Config) *File {
	f := &File{config: c}
	if c.Name == "-" {
		f.config.Name = "stdin"
	}
	if f.decode(text) {
		f.readFormat()
	}
	return f
}

// readFormat reads the text in the format that it has.
func (f *File) readFormat() {
	likely := min(strings.Count(f.text, "\n"), 1<<16)
	f.known, f.named = make(map[identity]*Entry, likely), make(map[string]*Entry, likely)
	switch format, at := f.detect(); format {
	case formatJSON:
		f.readJSON(at)
	case formatYAML:
		f.readYAML()
	default:
		f.readLines()
	}
}

// index returns the index of the text.
func (f *File) index() *index {
	if f.positions == nil {
		f.positions = newIndex(f.text)
	}
	return f.positions
}

// add takes an entry, unless it repeats another or has the name of another.
func (f *File) add(e *Entry) {
	id := e.identity()
	if first := f.known[id]; first != nil {
		f.Repeats = append(f.Repeats, Repeat{e.Line, first.Line})
		return
	}
	f.known[id] = e
	if e.Name != "" {
		if other := f.named[e.Name]; other != nil {
			f.rejectAt(e.start, fmt.Sprintf("the target of line %d has the same name, and is not the same", other.Line),
				"give each a name of its own")
			return
		}
		f.named[e.Name] = e
	}
	f.Entries = append(f.Entries, e)
}

// An identity is equal for two entries that are the same target.
type identity struct{ name, target, settings string }

func (e *Entry) identity() identity {
	id := identity{e.Name, e.URL, ""}
	if e.URL == "" {
		id.target = strings.Join(e.Command, "\x00")
	}
	byName := func(a, b Setting) int { return cmp.Compare(a.Flag, b.Flag) }
	settings := e.Settings
	if !slices.IsSortedFunc(settings, byName) {
		settings = slices.Clone(settings)
		slices.SortFunc(settings, byName)
	}
	for _, s := range settings {
		id.settings += "\x01" + s.Flag
		for _, v := range s.Values {
			id.settings += "\x00" + v.Text
		}
	}
	return id
}
