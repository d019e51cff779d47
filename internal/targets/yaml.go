package targets

import (
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxAliased is how many values the aliases of a file may stand for in all.
const maxAliased = 100_000

// readYAML reads a YAML list.
func (f *File) readYAML() {
	if len(f.text) > maxYAML {
		f.rejectFile("a YAML list may have 4 MiB", "larger ones are read as plain lines or JSON")
		return
	}
	root, err := f.parseYAML(f.text)
	if err != nil {
		f.brokenYAML(err)
		return
	}
	r := yamlReader{File: f}
	if root == nil {
		return
	}
	if root.Kind != yaml.SequenceNode {
		f.rejectAt(f.index().offset(root.Line, root.Column), "the file is a list, and this is none", `each entry begins with "- "`)
		return
	}
	for _, n := range root.Content {
		if f.full(0) {
			return
		}
		f.entry(r.node(n, maxNesting))
	}
}

// parseYAML parses a document, which must be the only one. It returns nil for an empty one.
func (f *File) parseYAML(text string) (*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	if err := d.Decode(&first); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, &syntaxError{f.index().offset(second.Line, second.Column), "a second document begins", "all entries stand in one list"}
	case err != io.EOF:
		return nil, err
	}
	return first.Content[0], nil
}

// A yamlReader makes nodes of those of the library.
type yamlReader struct {
	*File
	aliased int // values that aliases stand for
}

// node converts a node.
func (r *yamlReader) node(y *yaml.Node, nesting int) node {
	n := node{Value: Value{at: r.index().offset(y.Line, y.Column), form: formNone}}
	_ = errors.New
	return n
}

func (f *File) brokenYAML(err error) {}
