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

// readJSON reads either a JSON array of entries, or consecutive entries, as in NDJSON. The JSON starts at text[at].
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
			return f.wrongJSON(text, at, end, err)
		}
		start := end - len(raw)
		line, counted = line+bytes.Count(text[counted:start], []byte("\n")), start
		if err := f.entry(jsonNode(raw, line)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return f.wrongJSON(text, at, at+int(d.InputOffset()), err)
	}
	if end := at + int(d.InputOffset()); len(bytes.TrimSpace(text[end:])) > 0 {
		return f.wrong(lineOf(text, end), "jq -s add makes one list of several", "there is more after the end of the list")
	}
	return nil
}

// wrongJSON adds a line number and a hint to err, an error from package json. The JSON starts at text[at], and the
// decoder stopped at text[end]. The message repeats at most one character of the file, because values may be
// secret.
func (f *File) wrongJSON(text []byte, at, end int, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		end = at + int(e.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return f.wrong(lineOf(text, len(bytes.TrimSpace(text))), "", "the file ends before this is closed")
	}
	if strings.HasPrefix(err.Error(), "expected comma") { // the error is at the next character that is not a space
		end = len(text) - len(bytes.TrimLeft(text[end:], " \t\r\n")) + 1
	}
	return f.wrong(lineOf(text, end-1), "in JSON every text is in double quotes, and no comma comes before ] and }", "%w", err)
}

// jsonNode converts raw, a valid JSON value that starts on the given line, to a node.
func jsonNode(raw []byte, line int) *yaml.Node {
	r := jsonReader{raw: raw, decoder: json.NewDecoder(bytes.NewReader(raw)), line: line}
	r.decoder.UseNumber()
	return r.node()
}

// A jsonReader converts a valid JSON value to nodes.
type jsonReader struct {
	raw     []byte
	decoder *json.Decoder
	counted int // the length of the part of raw whose lines have been counted
	line    int // the line of raw[counted]
}

// node returns the next value. It drops the last items of lists and objects that are long enough to be invalid
// anyway.
func (r *jsonReader) node() *yaml.Node {
	token, _ := r.decoder.Token()
	end := int(r.decoder.InputOffset())
	r.line, r.counted = r.line+bytes.Count(r.raw[r.counted:end], []byte("\n")), end
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line}
	switch token {
	case nil:
		n.Tag = "!!null"
		return n
	case json.Delim('['):
		n.Kind = yaml.SequenceNode
	case json.Delim('{'):
		n.Kind = yaml.MappingNode
	default:
		n.Value = fmt.Sprint(token)
		return n
	}
	for r.decoder.More() {
		if item := r.node(); len(n.Content) <= 2*maxValues {
			n.Content = append(n.Content, item)
		}
	}
	r.decoder.Token() // the closing bracket
	return n
}

// isHeader reports whether line is the header of a CSV file. If placeholders refer to fields, a header must name
// all these fields. Otherwise it must name "url" and at least one other column.
func (f *File) isHeader(line string) bool {
	columns, err := csv.NewReader(strings.NewReader(line)).Read()
	fields := slices.DeleteFunc(f.fields, func(field string) bool { return field == "" })
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
		if column != keyName && column != keyURL && !slices.Contains(f.fields, column) {
			columns[i] = ""
		}
	}
	for err == nil {
		var record []string
		if record, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		n := &yaml.Node{Kind: yaml.MappingNode, Line: line}
		for i, column := range columns {
			if column != "" {
				n.Content = append(n.Content, textNode(column, line), textNode(record[i], line))
			}
		}
		err = f.entry(n)
	}
	if wrongCSV, ok := errors.AsType[*csv.ParseError](err); ok {
		return f.wrong(wrongCSV.Line, "", "%w", wrongCSV.Err)
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
		return f.wrong(0, "plain lines and JSON may be longer", "poll reads at most %d MiB of YAML", maxYAML>>20)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var list, more yaml.Node
	if err := d.Decode(&list); err != nil && err != io.EOF {
		return f.wrongYAML(err)
	}
	if err := d.Decode(&more); err == nil {
		return f.wrong(more.Line, "put all entries into one list", "a second document begins")
	} else if err != io.EOF {
		return f.wrongYAML(err)
	}
	resolveAliases(&list)
	for _, root := range list.Content {
		if root.Kind != yaml.SequenceNode && root.Tag != "!!null" {
			return f.wrong(root.Line, `each entry begins with "- "`, "the file is a list, but this is not an item of it")
		}
		for _, y := range root.Content {
			if err := f.entry(y); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrongYAML adds a hint to err, an error from package yaml, and converts the line number in its message.
func (f *File) wrongYAML(err error) error {
	line, text := 0, strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return f.wrong(line, `put text that holds ": " or begins with a sign in quotes; indent with blanks, not tabs`, "this is not YAML: %s", text)
}

// resolveAliases replaces each alias below n by a copy of its node, which has the line of the alias.
func resolveAliases(n *yaml.Node) {
	for i, child := range n.Content {
		if child.Kind != yaml.AliasNode {
			resolveAliases(child)
			continue
		}
		value := *child.Alias
		value.Line = child.Line
		n.Content[i] = &value
	}
}

// textNode returns a node for text on the given line.
func textNode(text string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: line}
}

// lineOf returns the number, counted from 1, of the line that contains text[at]. It clamps at to the range from 0 to
// len(text).
func lineOf(text []byte, at int) int {
	return 1 + bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n"))
}
