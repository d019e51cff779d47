package targets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/connect"
)

// A node is a value in a targets file. All formats of the file (lines, JSON, YAML and CSV) are converted to nodes.
type node struct {
	kind  kind
	line  int
	text  string // for kindText, the text as written in the file; for kindBad, the reason why the value is invalid
	keys  []node // for kindObject, the keys
	items []node // for kindList, the items; for kindObject, the values, in the order of keys
}

type kind uint8

const (
	kindText kind = iota // a string, a number, true or false
	kindNull             // null, or no value
	kindList
	kindObject
	kindBad // a value that is not valid in an entry
)

// The keys of an entry that are not names of flags.
const (
	keyName    = "name"
	keyURL     = "url"
	keyCommand = "command"
)

const (
	maxKeys   = 100  // the maximum number of keys in an entry
	maxKey    = 64   // the maximum length of a key in bytes
	maxValues = 1000 // the maximum number of values in a list within an entry
)

// entry converts n to an entry and adds it to the file. It returns an error if n is invalid, or if the file has
// too many entries.
func (f *File) entry(n node) error {
	if f.count++; f.count > maxEntries {
		return wrong(n.line, "", "the file has more than 1,000,000 entries")
	}
	e := &Entry{Line: n.line}
	var err error
	switch n.kind {
	case kindText:
		err = f.readText(e, n)
	case kindObject:
		err = f.readObject(e, n)
	default:
		err = n.not("a text or an object")
	}
	if err != nil {
		return err
	}
	return f.add(e)
}

// not returns the error for a node that has the wrong kind. The parameter needed describes the valid kind in the
// message.
func (n *node) not(needed string) error {
	is := map[kind]string{kindText: "a text", kindNull: "empty", kindList: "a list", kindObject: "an object"}[n.kind]
	if n.kind == kindBad {
		return wrong(n.line, "", "%s", n.text)
	}
	return wrong(n.line, "", "this has to be %s, but it is %s", needed, is)
}

// readText sets the fields of e from n, a text: a URL, or an item that replaces the placeholder {} of the
// template.
func (f *File) readText(e *Entry, n node) error {
	e.Item = n.text
	err := n.oneLine()
	switch {
	case err != nil:
		return err
	case f.config.Template != nil:
		e.Name = e.Item
		return f.fill(e, nil)
	case f.config.Keys:
		e.Name = e.Item
		return nil
	case !strings.Contains(e.Item, "://"):
		return wrong(n.line, "a URL begins with http://, https:// or tcp://; one to fill: poll --targets FILE https://api.example.com/jobs/{}",
			"the entry is not a URL, and there is no URL that it could fill")
	}
	e.URL = e.Item
	return f.fill(e, nil)
}

// oneLine returns an error unless n is a text of one line, which must not be empty or longer than maxText.
func (n *node) oneLine() error {
	switch {
	case n.kind != kindText:
		return n.not("a text")
	case n.text == "":
		return wrong(n.line, "", "the text is empty")
	case len(n.text) > maxText:
		return wrong(n.line, "", "the text is longer than %d KiB", maxText>>10)
	case strings.ContainsFunc(n.text, unicode.IsControl):
		return wrong(n.line, "", "the text holds a control character")
	}
	return nil
}

// readObject sets the fields of e from n, an object.
func (f *File) readObject(e *Entry, n node) error {
	if len(n.keys) > maxKeys {
		return wrong(n.line, "", "the entry has more than %d keys", maxKeys)
	}
	fields := map[string]string{}
	for i, key := range n.keys {
		isText := key.kind == kindText && len(key.text) <= maxKey
		switch {
		case !isText:
			return wrong(key.line, "", "an entry cannot have this key")
		case slices.ContainsFunc(n.keys[:i], func(k node) bool { return k.text == key.text }):
			return wrong(key.line, "write several values as a list: "+key.text+": [A, B]", "%s: the key is given twice", key.text)
		}
		err := f.readKey(e, key, n.items[i], fields)
		if e, ok := errors.AsType[*Error](err); ok {
			e.Err = fmt.Errorf("%s: %w", key.text, e.Err)
			return e
		}
	}
	e.Item = e.Name
	switch {
	case f.config.Template != nil:
		return f.fill(e, fields)
	case f.config.Keys && e.Name == "":
		return wrong(n.line, "", "the entry has no name")
	case f.config.Keys:
	case e.URL == "" && e.Command == nil:
		return wrong(n.line, "", "the entry has neither a url nor a command")
	case e.URL != "" && e.Command != nil:
		return wrong(n.line, "give one of them, or two entries", "the entry has both a url and a command")
	default:
		return f.fill(e, fields)
	}
	return nil
}

// readKey reads a key of an object and its value. If the key is a field of the template, readKey stores the value
// in fields. Otherwise it stores the value in e. Any error is an [*Error] that does not name the key.
func (f *File) readKey(e *Entry, key, value node, fields map[string]string) error {
	isTarget := key.text == keyURL || key.text == keyCommand
	switch {
	case key.text == keyName:
		e.Name = value.text
		return value.oneLine()
	case f.config.Keys:
		return wrong(key.line, "the command line applies to all elements alike", "here an entry is the key of an element, and can only have a name")
	case slices.Contains(f.config.fields(), key.text):
		fields[key.text] = value.text
		return value.oneLine()
	case isTarget && f.config.Template != nil:
		return wrong(key.line, "give one of them", "the command line already has a URL or a command, which the entries fill")
	case key.text == keyURL:
		e.URL = value.text
		return value.oneLine()
	case key.text == keyCommand && value.kind != kindList:
		return wrong(value.line, "such as [kubectl, get, job, a, -o, json]; a line for the shell is [sh, -c, LINE]", "this has to be a list of words")
	}
	texts, err := value.texts()
	if key.text == keyCommand {
		e.Command = texts
	} else {
		e.Settings = append(e.Settings, Setting{key.text, texts})
	}
	return err
}

// texts returns the texts in the list n. If n is not a list, texts treats it as a list of one item. It returns an
// error if an item is not a text, if the list is empty, or if it has more than maxValues items.
func (n *node) texts() ([]string, error) {
	if n.kind != kindList {
		n = &node{kind: kindList, line: n.line, items: []node{*n}}
	}
	if len(n.items) == 0 || len(n.items) > maxValues {
		return nil, wrong(n.line, "", "the list is empty, or has more than %d values", maxValues)
	}
	texts := make([]string, len(n.items))
	for i, item := range n.items {
		switch {
		case item.kind == kindObject:
			return nil, wrong(item.line, "put a text with such characters in quotes: 'Accept: text/plain'", "this has to be a text, but it is an object")
		case item.kind != kindText:
			return nil, item.not("a text")
		case strings.Contains(item.text, "\x00"):
			return nil, wrong(item.line, "", "the text holds a NUL byte")
		}
		texts[i] = item.text
	}
	return texts, nil
}

// fields returns the names of all fields that the template and the texts contain, possibly with duplicates. The
// name "" stands for the placeholder {}.
func (c *Config) fields() []string {
	fields := slices.Clone(c.Template.Fields())
	for _, t := range c.Texts {
		fields = append(fields, t.Fields()...)
	}
	return fields
}

// fill replaces the placeholders in the template and in the texts of the file with the values of the entry e. It
// stores the results in e. The map fields holds the fields of an object. It is nil if the entry is a text. If the
// entry itself sets a flag, the flag's text is not used. fill returns an error if a value is missing, or if a
// value is not valid where its placeholder stands.
func (f *File) fill(e *Entry, fields map[string]string) (err error) {
	values := map[string][]string{}
	e.id = fields["id"]
	for _, field := range f.config.fields() {
		text := fields[field]
		if field == "" || field == keyName && fields != nil {
			text = e.Item
		}
		switch values[field] = []string{text}; {
		case text != "":
		case fields == nil:
			return wrong(e.Line, `such as {"`+field+`": "a"}; in a CSV file the first line names the fields`,
				"the entry is a text, and %s needs an object with that field", hole(field))
		default:
			return wrong(e.Line, "", "the entry has no %s, which %s stands for", cmp.Or(field, keyName), hole(field))
		}
	}
	if f.config.Template != nil {
		if e.URL, e.Command, err = f.config.Template.fill(values); err != nil {
			return wrong(e.Line, "", "%w", err)
		}
	}
	own := len(e.Settings)
	isOf := func(flag string) func(Setting) bool { return func(s Setting) bool { return s.Flag == flag } }
	for _, t := range f.config.Texts {
		if slices.ContainsFunc(e.Settings[:own], isOf(t.Flag)) {
			continue
		}
		text, err := t.fill(values)
		if err != nil {
			return wrong(e.Line, "", "%w", err)
		}
		at := slices.IndexFunc(e.Settings, isOf(t.Flag))
		if at < 0 {
			at, e.Settings = len(e.Settings), append(e.Settings, Setting{Flag: t.Flag})
		}
		e.Settings[at].Texts = append(e.Settings[at].Texts, text)
	}
	return nil
}

// add adds e to the file. If e repeats an earlier entry, add only counts it in f.Repeats. It returns an error if a
// different entry has the same name.
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

// identity returns a string that is equal for two entries if they describe the same target. The order of the
// settings does not matter. URLs are compared after normalization by [connect.PageOf].
func (e *Entry) identity() string {
	page := fmt.Sprint(connect.PageOf(e.URL))
	if e.Settings == nil && e.Command == nil && e.Name == "" {
		return page
	}
	settings := slices.SortedFunc(slices.Values(e.Settings), func(a, b Setting) int { return cmp.Compare(a.Flag, b.Flag) })
	return fmt.Sprintf("%q %q %q %q", e.Name, page, e.Command, settings)
}
