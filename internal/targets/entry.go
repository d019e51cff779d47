package targets

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/template"
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

const (
	// maxNesting is how deep lists and objects are nested in an entry: an object, a list
	// of values, and one for what is refused in words of its own.
	maxNesting = 3
	// maxValues is how many values a list in an entry has.
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

// entry takes an entry that begins at a byte of the file.
func (f *File) entry(at int, n node) {
	f.count++
	before := f.found
	e := &Entry{start: at, at: n.Value}
	e.Line, e.Column = f.index().position(at)
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
	is := "this is a text"
	switch n.kind {
	case kindNull:
		is = "there is nothing"
	case kindList:
		is = "this is a list"
	case kindObject:
		is = "this is an object"
	case kindBad:
		return n.Text
	}
	return needed + " is needed here, and " + is
}

// readText reads an entry that is a text: a URL, or an item for the template.
func (f *File) readText(e *Entry) {
	e.Item = e.at.Text
	switch {
	case !f.checkText("", e.at):
		return
	case f.config.Template == nil && f.config.Keys:
		e.Name = e.Item
		return
	case f.config.Template == nil && !strings.Contains(e.Item, "://"):
		f.findIn("", e.at, 0, "the entry is no URL, and there is none that it could fill",
			"a URL begins with http://, https:// or tcp://; one to fill: poll --targets FILE https://api.example.com/jobs/{}")
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
		return e.at, "the entry is a text, and " + hole(field) + " needs an object with that field"
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

// hole returns a field as it stands in a template.
func hole(field string) string {
	if field == "" {
		return template.Item
	}
	return "{." + field + "}"
}

// fill fills the template with what value returns for a field.
func (f *File) fill(e *Entry, value func(field string) (v Value, problem string)) {
	var last Value
	key := ""
	var err error
	e.URL, e.Command, err = f.config.Template.fill(func(field string) ([]string, error) {
		v, problem := value(field)
		last, key = v, field
		if problem != "" {
			key = ""
			return nil, errors.New(problem)
		}
		return []string{v.Text}, nil
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
	} else if key == "" && last.form != formNone {
		key = keyName
	}
	f.findIn(key, last, 0, message, "")
}
