package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/words"
)

// The keys of an object that are no flags.
const (
	keyName    = "name"
	keyURL     = "url"
	keyCommand = "command"
)

const (
	maxKeys = 100 // of an object
	maxKey  = 64  // the longest key, in bytes
)

// readObject reads an entry that is an object.
func (f *File) readObject(e *Entry, n node) {
	o := object{File: f, entry: e, seen: make([]string, 0, 8)}
	for _, m := range n.members {
		switch key := m.key.Text; {
		case m.key.form == formNone:
			f.rejectAt(m.key.at, "a key is a text", "")
		case len(key) > maxKey:
			f.rejectAt(m.key.at, "an entry has no such key", "")
		case slices.Contains(o.seen, key):
			f.rejectKey(m.key, "it is given twice", o.hintTwice(key))
		case len(o.seen) == maxKeys:
			f.rejectAt(n.at, fmt.Sprintf("the entry has more than %d keys", maxKeys), "")
			return
		default:
			o.seen = append(o.seen, key)
			o.read(m)
		}
	}
	o.finish(n)
}

// An object is an entry while it is read.
type object struct {
	*File
	entry  *Entry
	seen   []string // the keys
	name   Value
	fields []field
}

// A field is what a template may use of an entry.
type field struct {
	name  string
	value Value
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
		o.name = o.oneLine(m)
		o.entry.Name = o.name.Text
	case o.config.Keys:
		o.rejectKey(m.key, "an entry is the key of an element here, and only has a name", o.hintKeys(key))
	case isField && isFlag && !flag.Common:
		o.rejectKey(m.key, fmt.Sprintf("it could be the field {.%[1]s} of the URL or the flag --%[1]s", key),
			"call the field something else, in the URL and here")
	case isField:
		o.fields = append(o.fields, field{key, o.oneLine(m)})
	case key == keyURL && o.config.Template == nil:
		o.entry.at, o.entry.key = o.oneLine(m), keyURL
		o.entry.URL = o.entry.at.Text
	case key == keyCommand && o.config.Template == nil:
		o.entry.Command = o.command(m)
	case isFlag && !flag.Common:
		o.setting(m, flag)
	default:
		o.unknown(m.key)
	}
}

// hintKeys says where a key of an entry belongs that is only the key of an element.
func (o *object) hintKeys(key string) string {
	_, isFlag := o.config.Flags[key]
	switch {
	case key == keyURL || key == keyCommand:
		return "one URL or command of the command line is asked about all of them"
	case isFlag:
		return "all elements are judged alike, by the command line: --" + key
	}
	return "of objects that have more, jq -r '.[].id' takes the keys"
}

// oneLine returns the value of a key that takes one text on one line.
func (o *object) oneLine(m member) Value {
	if m.value.kind != kindText {
		o.findIn(m.key.Text, m.value.Value, 0, m.value.instead("a text"), "")
	} else if o.checkText(m.key.Text, m.value.Value) {
		return m.value.Value
	}
	return Value{Text: "0"} // it is not missing
}

// command returns the words of a command.
func (o *object) command(m member) []string {
	switch {
	case m.value.kind == kindList && len(m.value.items) == 0:
		o.findIn(keyCommand, m.value.Value, 0, "the list is empty", "")
	case m.value.kind != kindList:
		o.findIn(keyCommand, m.value.Value, 0, m.value.instead("a list of words"),
			"such as [kubectl, get, job, a, -o, json]; a line for the shell is [sh, -c, LINE]")
	default:
		var args []string
		for _, v := range o.values(m, true) {
			args = append(args, v.Text)
		}
		return args
	}
	return nil
}

// values returns the values of a key: a text, or those of a list.
func (o *object) values(m member, many bool) []Value {
	if m.value.kind != kindList || !many {
		m.value.items = []node{m.value}
	}
	values := make([]Value, 0, len(m.value.items))
	for i, n := range m.value.items {
		switch {
		case i == maxValues:
			o.rejectKey(m.key, fmt.Sprintf("it has more than %d values", maxValues), "")
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
	s := Setting{Flag: m.key.Text, Values: o.values(m, flag.Many)}
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

// meant says what an unknown key may have been meant to be, unless that will not be
// shown: what is piped here may have many such keys.
func (o *object) meant(key string) string {
	if len(o.findings) == maxShown {
		return ""
	}
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
	switch t := o.config.Template; {
	case t == nil:
		return "it has a name, a url or a command, and flags such as until and timeout"
	case t.url == nil:
		return "it has a name, which {} stands for, and flags such as until and timeout"
	}
	return "a field stands in the URL, too: {." + key + "}"
}

// finish checks the entry as a whole and fills the template.
func (o *object) finish(n node) {
	e := o.entry
	e.Item = e.Name
	hasURL, hasCommand := slices.Contains(o.seen, keyURL), slices.Contains(o.seen, keyCommand)
	switch {
	case o.config.Template != nil:
		o.fill(e, o.field)
	case o.config.Keys && len(o.seen) == 0:
		o.rejectAt(n.at, "the entry has no name", "")
	case o.config.Keys:
	case !hasURL && !hasCommand:
		o.rejectAt(n.at, "the entry has neither a url nor a command", "")
	case hasURL && hasCommand:
		o.rejectAt(n.at, "the entry has both a url and a command", "give one of them, or two entries")
	}
}

// field returns what a hole of the template stands for, or what is wrong with it.
func (o *object) field(name string) (Value, string) {
	if name == "" || name == keyName {
		if o.name.Text != "" {
			return o.name, ""
		}
		return o.entry.at, "the entry has no name, which " + hole(name) + " stands for"
	}
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return o.entry.at, "the entry has no " + name + ", which " + hole(name) + " stands for"
	}
	return o.fields[i].value, ""
}
