package targets

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNesting is the maximum depth of the values that are read. A valid entry has two levels: an object and lists
// of values. The third level is only read to report a clear error.
const maxNesting = 3

// readJSON reads either a list of entries, or entries one after another, such as NDJSON. The JSON starts at
// text[at].
func (f *File) readJSON(text []byte, at int) error {
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	isList := text[at+len(text[at:])-len(bytes.TrimLeft(text[at:], " \t"))] == '['
	if isList {
		d.Token() // skip the opening bracket
	}
	line, counted := lineOf(text, at), at
	var raw json.RawMessage
	for !isList || d.More() {
		err := d.Decode(&raw)
		if err == io.EOF && !isList {
			return nil
		}
		end := at + int(d.InputOffset())
		if err != nil {
			return wrongJSON(text, at, end, err)
		}
		start := end - len(raw)
		line, counted = line+bytes.Count(text[counted:start], []byte("\n")), start
		if err := f.entry(jsonNode(raw, line, maxNesting)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return wrongJSON(text, at, at+int(d.InputOffset()), err)
	}
	if end := at + int(d.InputOffset()); len(bytes.TrimSpace(text[end:])) > 0 {
		return wrong(lineOf(text, end), "jq -s add makes one list of several", "there is more after the end of the list")
	}
	return nil
}

// wrongJSON adds a line number and a hint to err, an error from package json. The JSON starts at text[at], and the
// decoder stopped at text[end]. The message repeats at most one character of the file, because values may be
// secret.
func wrongJSON(text []byte, at, end int, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		end = at + int(e.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return wrong(lineOf(text, len(bytes.TrimSpace(text))), "", "the file ends before this is closed")
	}
	if strings.HasPrefix(err.Error(), "expected comma") { // the error is at the next character that is not a space
		end = len(text) - len(bytes.TrimLeft(text[end:], " \t\r\n")) + 1
	}
	return wrong(lineOf(text, end-1), "in JSON every text is in double quotes, and no comma comes before ] and }", "%w", err)
}

// jsonNode converts raw, a valid JSON value that starts on the given line, to a node. The parameter nesting is the
// number of levels of lists and objects that may follow. A value below that depth is not read: its kind is
// kindBad.
func jsonNode(raw []byte, line, nesting int) node {
	n := node{line: line}
	switch {
	case raw[0] == '"':
		json.Unmarshal(raw, &n.text)
	case raw[0] != '[' && raw[0] != '{':
		if n.text = string(raw); n.text == "null" {
			n.kind = kindNull
		}
	case nesting == 0:
		n.kind, n.text = kindBad, "it is nested too deep for an entry"
	default:
		n.inside(raw, nesting-1)
	}
	return n
}

// inside sets the items of n, and for an object its keys, from raw. It stops after maxValues+1 items, because then
// the list is too long in any case.
func (n *node) inside(raw []byte, nesting int) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	n.kind = kindList
	if raw[0] == '{' {
		n.kind = kindObject
	}
	for d.More() && len(n.items) <= maxValues {
		if n.kind == kindObject {
			key, _ := d.Token()
			line := n.line + bytes.Count(raw[:d.InputOffset()], []byte("\n"))
			n.keys = append(n.keys, node{text: key.(string), line: line})
		}
		var value json.RawMessage
		d.Decode(&value)
		line := n.line + bytes.Count(raw[:int(d.InputOffset())-len(value)], []byte("\n"))
		n.items = append(n.items, jsonNode(value, line, nesting))
	}
}

// isHeader reports whether line is the header of a CSV file. If placeholders refer to fields, a header must name
// all these fields. Otherwise it must name "url" and at least one other column.
func (f *File) isHeader(line string) bool {
	columns, err := csv.NewReader(strings.NewReader(line)).Read()
	fields := slices.DeleteFunc(f.config.fields(), func(field string) bool { return field == "" })
	for _, field := range fields {
		if !slices.Contains(columns, field) {
			return false
		}
	}
	return err == nil && (len(fields) > 0 || len(columns) > 1 && slices.Contains(columns, keyURL))
}

// readCSV reads a CSV file with a header. It ignores all columns except name, url, and the fields that
// placeholders refer to.
func (f *File) readCSV(text []byte) error {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	columns, err := r.Read()
	for i, column := range columns {
		if column != keyName && column != keyURL && !slices.Contains(f.config.fields(), column) {
			columns[i] = ""
		}
	}
	for err == nil {
		var record []string
		if record, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		n := node{kind: kindObject, line: line}
		for i, column := range columns {
			if column != "" {
				n.keys = append(n.keys, node{text: column, line: line})
				n.items = append(n.items, node{text: record[i], line: line})
			}
		}
		err = f.entry(n)
	}
	if wrongCSV, ok := errors.AsType[*csv.ParseError](err); ok {
		return wrong(wrongCSV.Line, "", "%w", wrongCSV.Err)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// readYAML reads a YAML list. It keeps each value as the text in the file: 010, 1e3 and yes do not become numbers
// or booleans.
func (f *File) readYAML(text []byte) error {
	if len(text) > maxYAML {
		return wrong(0, "plain lines and JSON may be longer", "poll reads at most %d MiB of YAML", maxYAML>>20)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var list, more yaml.Node
	if err := d.Decode(&list); err != nil && err != io.EOF {
		return wrongYAML(err)
	}
	if err := d.Decode(&more); err == nil {
		return wrong(more.Line, "put all entries into one list", "a second document begins")
	} else if err != io.EOF {
		return wrongYAML(err)
	}
	r := yamlReader{room: len(text)/2 + maxAliased}
	for _, root := range list.Content {
		if root.Kind != yaml.SequenceNode && root.Tag != "!!null" {
			return wrong(root.Line, `each entry begins with "- "`, "the file is a list, but this is not an item of it")
		}
		for _, y := range root.Content {
			if err := f.entry(r.node(y, maxNesting)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrongYAML adds a hint to err, an error from package yaml, and converts the line number in its message.
func wrongYAML(err error) error {
	line, text := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return wrong(line, `put text that holds ": " or begins with a sign in quotes; indent with blanks, not tabs`, "this is not YAML: %s", text)
}

// maxAliased limits how many additional nodes the aliases in a file may create. It rejects a file with nested
// aliases that would use up the memory.
const maxAliased = 100_000

// A yamlReader converts nodes of package yaml.
type yamlReader struct{ room int } // the number of further nodes that the file may have

// node converts y. The parameter nesting is the number of levels of lists and objects that may follow. A value
// below that depth is not read: its kind is kindBad.
func (r *yamlReader) node(y *yaml.Node, nesting int) node {
	n := node{line: y.Line, kind: kindBad}
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	r.room--
	switch {
	case r.room < 0:
		n.text = "the aliases of the file stand for too many values"
	case y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!str":
		n.text = "it is a YAML tag, since it begins with !"
	case y.Kind == yaml.ScalarNode && y.Tag == "!!null":
		n.kind = kindNull
	case y.Kind == yaml.ScalarNode:
		n.kind, n.text = kindText, y.Value
	case nesting == 0:
		n.text = "it is nested too deep for an entry"
	case y.Kind == yaml.SequenceNode:
		n.kind = kindList
		for _, item := range y.Content[:min(len(y.Content), maxValues+1)] {
			n.items = append(n.items, r.node(item, nesting-1))
		}
	default:
		n.kind = kindObject
		for i := 0; i+1 < min(len(y.Content), 2*maxValues); i += 2 {
			n.keys = append(n.keys, r.node(y.Content[i], 0))
			n.items = append(n.items, r.node(y.Content[i+1], nesting-1))
		}
	}
	return n
}

// lineOf returns the line number, counted from 1, of the byte text[at]. It limits at to the length of text.
func lineOf(text []byte, at int) int {
	return 1 + bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n"))
}
