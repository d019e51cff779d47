package targets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/connect"
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
func (f *File) entry(n *yaml.Node) (err error) {
	if f.count++; f.count > maxEntries {
		return f.wrong(n.Line, "", "the file has more than 1,000,000 entries")
	}
	e := &Entry{Line: n.Line}
	var fields map[string]string // nil if the entry is a text
	switch kindOf(n) {
	case aText:
		err = f.readText(e, n)
	case anObject:
		fields, err = f.readObject(e, n)
	default:
		err = f.not("a text or an object", n)
	}
	if err == nil && (f.config.Template != nil || !f.config.Keys) {
		err = f.fill(e, fields)
	}
	if err != nil {
		return err
	}
	return f.add(e)
}

// The kinds of values, as error messages name them. All formats of a file are converted to nodes of package yaml.
const (
	aText    = "a text" // a string, a number, true or false
	aList    = "a list"
	anObject = "an object"
	nothing  = "empty" // null, or no value
	aTag     = "a YAML tag, since it begins with !"
)

// kindOf returns the kind of the value n.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str":
		return aTag
	case n.Kind == yaml.SequenceNode:
		return aList
	case n.Kind == yaml.MappingNode:
		return anObject
	case n.Tag == "!!null":
		return nothing
	}
	return aText
}

// wrong returns a usage error for the given line of the file, with a formatted message and a hint. Line 0 stands for
// the whole file. The message contains no part of the file except keys and field names, because values may be
// secret.
func (f *File) wrong(line int, hint, format string, args ...any) error {
	place := f.Name + ": "
	if line > 0 {
		place = fmt.Sprintf("%s:%d: ", f.Name, line)
	}
	if f.key != "" {
		place += f.key + ": "
	}
	return argv.Usagef("%s"+format, slices.Insert(args, 0, any(place))...).Hint("%s", hint)
}

// not returns the error for n, a value of the wrong kind. needed describes the valid kind.
func (f *File) not(needed string, n *yaml.Node) error {
	return f.wrong(n.Line, "", "this has to be %s, but it is %s", needed, kindOf(n))
}

// readText sets the fields of e from n, a text. The text is a URL, a key, or an item that replaces the placeholder
// {} of the template.
func (f *File) readText(e *Entry, n *yaml.Node) error {
	e.Item = n.Value
	err := f.oneLine(n)
	switch {
	case err != nil:
		return err
	case f.config.Template != nil || f.config.Keys:
		e.Name = e.Item
	case !strings.Contains(e.Item, "://"):
		return f.wrong(n.Line, "a URL begins with http://, https:// or tcp://; one to fill: poll --targets FILE https://api.example.com/jobs/{}",
			"the entry is not a URL, and there is no URL that it could fill")
	default:
		e.URL = e.Item
	}
	return nil
}

// oneLine returns an error unless n is a single line of text that is neither empty nor longer than maxText.
func (f *File) oneLine(n *yaml.Node) error {
	switch {
	case kindOf(n) != aText:
		return f.not(aText, n)
	case n.Value == "":
		return f.wrong(n.Line, "", "the text is empty")
	case len(n.Value) > maxText:
		return f.wrong(n.Line, "", "the text is longer than %d KiB", maxText>>10)
	case strings.ContainsFunc(n.Value, unicode.IsControl):
		return f.wrong(n.Line, "", "the text holds a control character")
	}
	return nil
}

// readObject sets the fields of e from n, an object. It returns those fields of the object that replace
// placeholders.
func (f *File) readObject(e *Entry, n *yaml.Node) (fields map[string]string, err error) {
	if len(n.Content) > 2*maxKeys {
		return nil, f.wrong(n.Line, "", "the entry has more than %d keys", maxKeys)
	}
	fields = make(map[string]string)
	known := make(map[string]bool)
	for pair := range slices.Chunk(n.Content, 2) {
		key := pair[0]
		switch {
		case kindOf(key) != aText || len(key.Value) > maxKey:
			return nil, f.wrong(key.Line, "", "an entry cannot have this key")
		case known[key.Value]:
			return nil, f.wrong(key.Line, "write several values as a list: "+key.Value+": [A, B]", "%s: the key is given twice", key.Value)
		}
		known[key.Value], f.key = true, key.Value
		if err := f.readKey(e, key, pair[1], fields); err != nil {
			return nil, err
		}
		f.key = ""
	}
	e.Item = e.Name
	switch {
	case f.config.Template != nil:
	case f.config.Keys && e.Name == "":
		err = f.wrong(n.Line, "", "the entry has no name")
	case f.config.Keys:
	case e.URL == "" && e.Command == nil:
		err = f.wrong(n.Line, "", "the entry has neither a url nor a command")
	case e.URL != "" && e.Command != nil:
		err = f.wrong(n.Line, "give one of them, or two entries", "the entry has both a url and a command")
	}
	return fields, err
}

// readKey reads a key of an object and its value. If the key is a field of the template, readKey stores the value
// in fields. Otherwise it stores the value in e.
func (f *File) readKey(e *Entry, key, value *yaml.Node, fields map[string]string) error {
	isTarget := key.Value == keyURL || key.Value == keyCommand
	switch {
	case key.Value == keyName:
		e.Name = value.Value
		return f.oneLine(value)
	case f.config.Keys:
		return f.wrong(key.Line, "the command line applies to all elements alike", "here an entry is the key of an element, and can only have a name")
	case slices.Contains(f.fields, key.Value):
		fields[key.Value] = value.Value
		return f.oneLine(value)
	case isTarget && f.config.Template != nil:
		return f.wrong(key.Line, "give one of them", "the command line already has a URL or a command, which the entries fill")
	case key.Value == keyURL:
		e.URL = value.Value
		return f.oneLine(value)
	case key.Value == keyCommand && kindOf(value) != aList:
		return f.wrong(value.Line, "such as [kubectl, get, job, a, -o, json]; a line for the shell is [sh, -c, LINE]", "this has to be a list of words")
	}
	texts, err := f.texts(value)
	if key.Value == keyCommand {
		e.Command = texts
	} else {
		e.Settings = append(e.Settings, Setting{key.Value, texts})
	}
	return err
}

// texts returns the items of the list n as strings. If n is not a list, n itself is the only item. texts returns an
// error if an item is not a text, if the list is empty, or if it has more than maxValues items. It also returns an
// error if the settings and commands of all entries together have too many values.
func (f *File) texts(n *yaml.Node) ([]string, error) {
	items := n.Content
	if kindOf(n) != aList {
		items = []*yaml.Node{n}
	}
	if f.room -= len(items); f.room < 0 {
		return nil, f.wrong(n.Line, "", "the aliases of the file stand for too many values")
	}
	if len(items) == 0 || len(items) > maxValues {
		return nil, f.wrong(n.Line, "", "the list is empty, or has more than %d values", maxValues)
	}
	texts := make([]string, len(items))
	for i, item := range items {
		switch {
		case kindOf(item) == anObject:
			return nil, f.wrong(item.Line, "put a text with such characters in quotes: 'Accept: text/plain'", "this has to be a text, but it is an object")
		case kindOf(item) != aText:
			return nil, f.not(aText, item)
		case strings.Contains(item.Value, "\x00"):
			return nil, f.wrong(item.Line, "", "the text holds a NUL byte")
		}
		texts[i] = item.Value
	}
	return texts, nil
}

// fill replaces the placeholders in the template, and in the flag values f.config.Texts, with values from the entry
// e. It stores the results in e. fields holds the fields of an object, and is nil if the entry is a text. If the
// entry itself sets a flag, fill ignores the flag's value in f.config.Texts. fill returns an error if a value is
// missing, or if a value is not valid where its placeholder stands.
func (f *File) fill(e *Entry, fields map[string]string) (err error) {
	values := map[string][]string{}
	e.id = fields["id"]
	for _, field := range f.fields {
		text := fields[field]
		if field == "" || field == keyName && fields != nil {
			text = e.Item
		}
		switch values[field] = []string{text}; {
		case text != "":
		case fields == nil:
			return f.wrong(e.Line, `such as {"`+field+`": "a"}; in a CSV file the first line names the fields`,
				"the entry is a text, and %s needs an object with that field", hole(field))
		default:
			return f.wrong(e.Line, "", "the entry has no %s, which %s stands for", cmp.Or(field, keyName), hole(field))
		}
	}
	if f.config.Template != nil {
		if e.URL, e.Command, err = f.config.Template.fill(values); err != nil {
			return f.wrong(e.Line, "", "%w", err)
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
			return f.wrong(e.Line, "", "%w", err)
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
		return f.wrong(e.Line, "give each a name of its own", "another target, of line %d, has the same name", line)
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
