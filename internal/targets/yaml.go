package targets

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// maxAliased is how many values the aliases of a file may stand for in all.
	maxAliased = 100_000
	// maxPieces is how many entries of a broken list are read to find all that are wrong.
	maxPieces = 50_000
	// maxSought is the longest piece in which the place of an error is sought.
	maxSought = 8 << 10
)

// readYAML reads a YAML list. The text of a value stays as it is written: 010, 1e3 and
// yes are no numbers and no booleans here.
func (f *File) readYAML() {
	if len(f.text) > maxYAML {
		f.rejectFile(fmt.Sprintf("a YAML list of more than %d MiB is not read", maxYAML>>20), "plain lines and JSON may be longer")
		return
	}
	if at := strayBreak(f.text); at >= 0 {
		f.rejectAt(at, "a line ends with a character that is no newline", "in double quotes it is written \\u2028, \\u2029, \\x85 or \\r")
		return
	}
	r := yamlReader{File: f}
	if err := r.read(0, f.text); err != nil {
		r.readPieces(err)
	}
}

// strayBreak returns where a line ends that ends for YAML only, -1 if there is none.
func strayBreak(text string) int {
	at := strings.IndexAny(text, "\u0085\u2028\u2029")
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], '\r')
		if i += n; n < 0 || at >= 0 && at < i {
			return at
		}
		if !strings.HasPrefix(text[i+1:], "\n") {
			return i
		}
	}
}

// A yamlReader makes nodes of those of the library.
type yamlReader struct {
	*File
	line    int // the lines before what is read
	inAlias int // how many aliases led to what is looked at
	aliased int // values that aliases stood for
}

// read takes the entries of a list: the file, or a piece that begins after so many lines
// of it.
func (r *yamlReader) read(line int, text string) error {
	r.line = line
	d := yaml.NewDecoder(strings.NewReader(text))
	var list, more yaml.Node
	if err := d.Decode(&list); err != nil && err != io.EOF {
		return err
	}
	switch err := d.Decode(&more); {
	case err == nil:
		r.rejectAt(r.offset(&more), "a second document begins", "all entries stand in one list")
		return nil
	case err != io.EOF:
		return err
	}
	for _, root := range list.Content {
		if root.Kind != yaml.SequenceNode && root.Tag != "!!null" {
			r.rejectAt(r.offset(root), "the file is a list, and this is none", `each entry begins with "- "`)
		}
		for _, y := range root.Content {
			at := r.offset(y)
			if root.Kind != yaml.SequenceNode || r.full(at) {
				return nil
			}
			r.entry(at, r.node(y, maxNesting))
		}
	}
	return nil
}

// offset returns where a node begins in the file.
func (r *yamlReader) offset(y *yaml.Node) int { return r.index().offset(r.line+y.Line, y.Column) }

// node makes a node of one of the library. What is nested deeper than an entry can be is
// not looked at.
func (r *yamlReader) node(y *yaml.Node, nesting int) node {
	at := r.offset(y)
	bad := func(why string) node { return node{Value: Value{why, at, formNone}, kind: kindBad} }
	if y.Kind == yaml.AliasNode {
		y = y.Alias
		r.inAlias++
		defer func() { r.inAlias-- }()
	}
	if r.inAlias > 0 {
		if r.aliased++; r.aliased > maxAliased {
			return bad("the aliases of the file stand for too many values")
		}
	}
	isText := y.Kind == yaml.ScalarNode
	switch {
	case y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!str":
		return bad("it is a YAML tag, since it begins with !")
	case isText && y.Tag == "!!null":
		return node{Value: Value{at: at, form: formNone}, kind: kindNull}
	case isText:
		return node{Value: r.scalar(y)}
	case nesting == 0:
		return bad("it is nested too deep for an entry")
	case y.Kind == yaml.SequenceNode:
		n := node{Value: Value{at: at, form: formNone}, kind: kindList}
		for _, item := range y.Content[:min(len(y.Content), maxValues+1)] {
			n.items = append(n.items, r.node(item, nesting-1))
		}
		return n
	}
	n := node{Value: Value{at: at, form: formNone}, kind: kindObject}
	for i := 0; i+1 < min(len(y.Content), 2*maxValues+2); i += 2 {
		key := Value{at: r.offset(y.Content[i]), form: formNone}
		if y.Content[i].Kind == yaml.ScalarNode {
			key = r.scalar(y.Content[i])
		}
		n.members = append(n.members, member{key, r.node(y.Content[i+1], nesting-1)})
	}
	return n
}

// scalar returns the text of a scalar node, without its anchor and its tag.
func (r *yamlReader) scalar(y *yaml.Node) Value {
	v := Value{Text: y.Value, at: r.offset(y)}
	for properties := y.Anchor != "" || y.Style&yaml.TaggedStyle != 0; properties; {
		rest := r.text[v.at:]
		if properties = rest != "" && (rest[0] == '&' || rest[0] == '!'); properties {
			rest = rest[strings.IndexAny(rest+" ", " \t\r\n"):]
			v.at = len(r.text) - len(strings.TrimLeft(rest, " \t\r\n"))
		}
	}
	switch {
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		v.form = formBlock
	case y.Style&yaml.DoubleQuotedStyle != 0:
		v.form = formDouble
	case y.Style&yaml.SingleQuotedStyle != 0:
		v.form = formSingle
	}
	return v
}

// A piece is a part of the text that begins after so many bytes and lines.
type piece struct {
	at, line int
	text     string
}

// readPieces reads the entries of a list that cannot be read as a whole, each by itself,
// to find all that are wrong. err is what is wrong with the whole.
func (r *yamlReader) readPieces(err error) {
	before := r.found
	for _, p := range r.pieces() {
		if problem := r.read(p.line, p.text); problem != nil && !r.isElsewhere(problem) {
			r.rejectPiece(p, problem)
		}
	}
	if r.found == before { // what is wrong is not in one entry
		r.rejectPiece(piece{text: r.text}, err)
	}
}

// pieces cuts the text before each line that begins an entry, in the column of the first.
func (r *yamlReader) pieces() []piece {
	var list []piece
	entry := "" // how such a line begins
	at, number := 0, 0
	for line := range strings.Lines(r.text) {
		word := strings.TrimLeft(line, " ")
		begins := isYAMLEntry(word) || strings.TrimSpace(word) == "-"
		if begins && entry == "" {
			entry = line[:len(line)-len(word)] + "-"
		}
		if begins && strings.HasPrefix(line, entry) {
			if len(list) == maxPieces {
				break
			}
			list = append(list, piece{at: at, line: number})
		}
		at += len(line)
		number++
		if len(list) > 0 {
			last := &list[len(list)-1]
			last.text = r.text[last.at:at]
		}
	}
	return list
}

// isElsewhere reports whether a piece only lacks an anchor that another may have.
func (r *yamlReader) isElsewhere(err error) bool {
	name, isAnchor := strings.CutPrefix(withoutLine(err), "unknown anchor '")
	return isAnchor && strings.Contains(r.text, "&"+strings.TrimSuffix(name, "' referenced"))
}

// rejectPiece notes that a piece of the file is no YAML. The library knows the line at
// best, so the place is sought: the shortest beginning of the piece with the same error.
func (r *yamlReader) rejectPiece(p piece, err error) {
	message := withoutLine(err)
	size := 1
	if len(p.text) <= maxSought && r.found < maxShown {
		size = sort.Search(len(p.text), func(n int) bool { return r.fails(p.text[:n], message) })
	}
	at := p.at + len(strings.TrimRight(p.text[:size], " \t\r\n"))
	_, last := utf8.DecodeLastRuneInString(r.text[:at])
	words, hint := wordsYAML(message)
	r.rejectSyntax(max(0, at-last), words, hint)
}

// fails reports whether a text has an error.
func (r *yamlReader) fails(text, message string) bool {
	var n yaml.Node
	err := yaml.NewDecoder(strings.NewReader(text)).Decode(&n)
	return err != nil && withoutLine(err) == message
}

// withoutLine returns the message of an error of the library without the line.
func withoutLine(err error) string {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(message, "line "); found {
		_, message, _ = strings.Cut(rest, ": ")
	}
	return message
}

// wordsYAML says in other words what the library says, with a hint.
func wordsYAML(said string) (message, hint string) {
	for _, w := range [...]struct{ said, message, hint string }{
		{"mapping values are not allowed", "a key cannot begin here",
			`a text with ": " in it stands in quotes; the keys of an object begin in the same column`},
		{"cannot start any token", "no text begins with this character", "put the text in single quotes; indent with blanks, not with tabs"},
		{"a tab character", "a tab indents nothing", "indent with blanks"},
		{"did not find expected ',' or", "a list or an object in brackets is not closed", "a text that begins with [ or { stands in quotes"},
		{"could not find expected ':'", "this line is neither an entry nor a key", `an entry begins with "- ", a key ends with ": "`},
		{"unexpected end of stream", "a quote is not closed", ""},
		{"escape c", "there is no such escape in double quotes", "in single quotes nothing is escaped"},
		{"unknown anchor", "there is no anchor of this name", "a text that begins with * stands in quotes"},
		{"did not find expected", "this does not belong to the list", "all entries begin in the same column, and so do the keys of each"},
	} {
		if strings.Contains(said, w.said) {
			return w.message, w.hint
		}
	}
	return "this is no YAML: " + said, ""
}
