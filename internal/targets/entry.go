package targets

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/template"
	"github.com/pollcli/poll/internal/words"
)

// A node is a value of a file, whatever its format.
type node struct {
	Value   // of a text; of anything else, where it is
	kind    kind
	items   []node   // of a list
	members []member // of an object
}

type kind uint8

const (
	kindText kind = iota // also numbers, true and false, as they are written
	kindNull             // null, or nothing
	kindList
	kindObject
	kindBad // what no entry can hold; the text says why
)

type member struct {
	key   Value
	value node
}

// The keys of an object that are no flags.
const (
	keyName    = "name"
	keyURL     = "url"
	keyCommand = "command"
)

const (
	// maxNesting is how deep lists and objects are nested in an entry: an object, a list
	// of values, and one for what is refused in words of its own.
	maxNesting = 3
	// maxValues is how many values a list in an entry, and how many keys an object has.
	maxValues = 1000
)

// full reports that there are too many entries, at the place of one.
func (f *File) full(at int) bool {
	if f.count < maxEntries {
		return false
	}
	f.rejectAt(at, "the file has more than 1,000,000 entries", "")
	return true
}

// entry takes an entry of the file.
func (f *File) entry(n node) {
	f.count++
	before := f.found
	e := &Entry{start: n.at, at: n.Value}
	e.Line, e.Column = f.index().position(n.at)
	switch n.kind {
	case kindText:
		f.readText(e)
	case kindObject:
		f.readObject(e, n)
	default:
		f.rejectAt(n.at, n.instead("a text or an object"), "")
	}
	if f.found == before {
		f.add(e)
	}
}

// instead says what a node is where something else is needed.
func (n *node) instead(needed string) string {
	is := "a text"
	switch n.kind {
	case kindNull:
		is = "nothing"
	case kindList:
		is = "a list"
	case kindObject:
		is = "an object"
	case kindBad:
		return n.Text
	}
	return is + ", where " + needed + " is needed"
}

// readText reads an entry that is a text: a URL, or an item for the template.
func (f *File) readText(e *Entry) {
	e.Item = e.at.Text
	switch {
	case !f.checkText("", e.at):
		return
	case f.config.Template == nil && !strings.Contains(e.Item, "://"):
		f.findIn("", e.at, 0, "the entry is no URL, and there is none that it could fill",
			"give one: poll --targets FILE https://api.example.com/jobs/{}")
		return
	case f.config.Template == nil:
		e.URL = e.Item
		return
	}
	e.Name = e.Item
	f.fill(e, func(field string) (Value, string) {
		if field == "" {
			return e.at, ""
		}
		return e.at, "the entry is a text, and {." + field + "} needs an object with that field"
	})
}

// checkText refuses an item, a name or a URL that is empty, too long or not on one line.
func (f *File) checkText(key string, v Value) bool {
	i := strings.IndexFunc(v.Text, unicode.IsControl)
	switch {
	case v.Text == "":
		f.findIn(key, v, 0, "the text is empty", "")
	case len(v.Text) > maxText:
		f.findIn(key, v, 0, fmt.Sprintf("the text is longer than %d KiB", maxText>>10), "")
	case i >= 0:
		f.findIn(key, v, i, "the text holds a control character", "")
	default:
		return true
	}
	return false
}

// readObject reads an entry that is an object.
func (f *File) readObject(e *Entry, n node) {
	o := object{File: f, entry: e, fields: map[string]Value{}}
	seen := map[string]bool{}
	for _, m := range n.members {
		switch key := m.key.Text; {
		case m.key.form == formNone:
			f.rejectAt(m.key.at, "a key is a text on one line", "")
		case seen[key]:
			f.rejectKey(m.key, "it is given twice", o.hintTwice(key))
		default:
			o.read(m)
		}
		seen[m.key.Text] = true
	}
	if len(n.members) >= maxValues {
		f.rejectAt(n.at, fmt.Sprintf("the entry has more than %d keys", maxValues-1), "")
		return
	}
	o.finish(n, seen)
}

// An object is an entry while it is read.
type object struct {
	*File
	entry  *Entry
	name   Value
	fields map[string]Value // for the template
}

func (o *object) hintTwice(key string) string {
	if o.config.Flags[key].Many {
		return "several values stand in a list: " + key + ": [A, B]"
	}
	return ""
}

// read reads a key with its value.
func (o *object) read(m member) {
	key := m.key.Text
	flag, isFlag := o.config.Flags[key]
	isField := key != "" && slices.Contains(o.config.Template.holes(), key)
	switch {
	case key == keyName:
		o.name = o.text(m)
		o.entry.Name = o.name.Text
	case isField && isFlag && !flag.Common:
		o.rejectKey(m.key, fmt.Sprintf("it could be the field {.%[1]s} of the URL or the flag --%[1]s", key),
			"call the field something else, in the URL and here")
	case isField:
		o.fields[key] = o.text(m)
	case key == keyURL && o.config.Template == nil:
		o.entry.at = o.text(m)
		o.entry.URL = o.entry.at.Text
	case key == keyCommand && o.config.Template == nil:
		o.entry.Command = o.command(m)
	case isFlag && !flag.Common:
		o.setting(m, flag)
	default:
		o.unknown(m.key)
	}
}

// text returns the value of a key that takes one text on one line.
func (o *object) text(m member) Value {
	if m.value.kind != kindText {
		o.findIn(m.key.Text, m.value.Value, 0, m.value.instead("a text"), "")
		return Value{Text: "0"} // it is not missing
	}
	o.checkText(m.key.Text, m.value.Value)
	return m.value.Value
}

// command returns the words of a command.
func (o *object) command(m member) []string {
	if m.value.kind != kindList || len(m.value.items) == 0 {
		o.findIn(keyCommand, m.value.Value, 0, m.value.instead("a list of words"),
			"such as [kubectl, get, job, a, -o, json]; a line for the shell is [sh, -c, LINE]")
		return nil
	}
	var args []string
	for _, v := range o.values(m, true) {
		args = append(args, v.Text)
	}
	return args
}

// values returns the values of a key: a text, or those of a list.
func (o *object) values(m member, many bool) []Value {
	nodes := []node{m.value}
	if m.value.kind == kindList && many {
		nodes = m.value.items
	}
	var values []Value
	for i, n := range nodes {
		switch {
		case i == maxValues-1:
			o.rejectKey(m.key, fmt.Sprintf("it has more than %d values", maxValues-1), "")
			return values
		case n.kind != kindText:
			o.findIn(m.key.Text, n.Value, 0, n.instead("a text"), o.hintText(m.key.Text, n.kind))
		case strings.Contains(n.Text, "\x00"):
			o.findIn(m.key.Text, n.Value, strings.Index(n.Text, "\x00"), "the text holds a NUL byte", "")
		default:
			values = append(values, n.Value)
		}
	}
	return values
}

func (o *object) hintText(key string, k kind) string {
	switch {
	case k == kindObject && key == "header":
		return "a header is a line: 'Accept: text/plain'"
	case k == kindObject || k == kindBad:
		return "a text with such characters stands in quotes"
	case k == kindNull:
		return "leave the key out, or put the text in quotes"
	}
	return ""
}

// setting reads a flag that the entry sets.
func (o *object) setting(m member, flag Flag) {
	s := Setting{Flag: m.key.Text, at: m.key, Values: o.values(m, flag.Many)}
	if m.value.kind == kindList && flag.Many && len(m.value.items) == 0 {
		o.findIn(s.Flag, m.value.Value, 0, "the list is empty", "")
	}
	for i := range s.Values {
		v := &s.Values[i]
		switch on, isSwitch := switchWord(v.Text); {
		case flag.Switch && !isSwitch:
			o.findIn(s.Flag, *v, 0, "the value of a switch is true or false", "")
		case flag.Switch:
			v.Text, v.form = on, formNone
		case v.Text == "" && !flag.MayBeEmpty:
			o.findIn(s.Flag, *v, 0, "the text is empty", "leave the key out")
		}
	}
	o.entry.Settings = append(o.entry.Settings, s)
}

func switchWord(text string) (value string, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return "true", true
	case "false", "no", "off", "0":
		return "false", true
	}
	return "", false
}

// unknown refuses a key that means nothing here.
func (o *object) unknown(key Value) {
	name := strings.TrimLeft(key.Text, "-")
	flag, isFlag := o.config.Flags[name]
	switch {
	case key.Text == "<<":
		o.rejectKey(key, "merge keys are not read", "what holds for all targets is a flag of the command line")
	case key.Text == keyURL || key.Text == keyCommand:
		o.rejectKey(key, "there is a URL or a command already, which the entries fill", "give one of them")
	case isFlag && flag.Common:
		o.rejectKey(key, "it is for all targets", "give it on the command line: --"+name)
	case isFlag:
		o.rejectKey(key, "here a flag has no hyphens before it", "write "+name)
	default:
		o.rejectKey(key, "an entry has no such key", o.meant(name))
	}
}

// meant says what an unknown key may have been meant to be.
func (o *object) meant(key string) string {
	synonym := o.config.Synonyms[key]
	if flag, isFlag := o.config.Flags[synonym]; isFlag && !flag.Common {
		return "did you mean " + synonym + "?"
	}
	candidates := []string{keyName}
	if o.config.Template == nil {
		candidates = append(candidates, keyURL, keyCommand)
	}
	for name, flag := range o.config.Flags {
		if !flag.Common {
			candidates = append(candidates, name)
		}
	}
	candidates = slices.DeleteFunc(append(candidates, o.config.Template.holes()...), func(s string) bool { return s == "" })
	slices.Sort(candidates)
	if meant := words.Nearest(key, candidates); key != "" && meant != "" {
		return "did you mean " + meant + "?"
	}
	if o.config.Template != nil && o.config.Template.url != nil {
		return "a field is used in the URL: {." + key + "}"
	}
	return "it has a name, a url or a command, and flags such as until or timeout"
}

// finish checks the entry as a whole and fills the template.
func (o *object) finish(n node, seen map[string]bool) {
	e := o.entry
	e.Item = e.Name
	switch {
	case o.config.Template != nil:
		o.fill(e, o.field)
	case !seen[keyURL] && !seen[keyCommand]:
		o.rejectAt(n.at, "the entry has neither a url nor a command", "")
	case seen[keyURL] && seen[keyCommand]:
		o.rejectAt(n.at, "the entry has both a url and a command", "give one of them, or two entries")
	}
}

// field returns what a hole of the template stands for, or what is wrong with it.
func (o *object) field(field string) (Value, string) {
	v, found := o.fields[field]
	hole := "." + field
	if field == "" || field == keyName {
		v, found = o.name, o.name.Text != ""
		hole = strings.TrimSuffix(hole, ".")
		field = keyName
	}
	if !found {
		return o.entry.at, fmt.Sprintf("the entry has no %s, which {%s} stands for", field, hole)
	}
	return v, ""
}

// fill fills the template with what value returns for a field.
func (f *File) fill(e *Entry, value func(field string) (v Value, problem string)) {
	var last Value
	key := ""
	err := f.config.Template.fill(e, func(field string) (string, error) {
		v, problem := value(field)
		last, key = v, field
		if problem != "" {
			return "", errors.New(problem)
		}
		return v.Text, nil
	})
	if err == nil {
		return
	}
	message := err.Error()
	if misfit, ok := errors.AsType[*template.Misfit](err); ok {
		message = "in the URL, the text " + misfit.Problem
	}
	if e.at.form != formNone {
		key = "" // the entry is a text
	}
	f.findIn(key, last, 0, message, "")
}
