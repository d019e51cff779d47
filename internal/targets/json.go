package targets

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxSkipped is how deep lists and objects may be nested in what no entry can hold.
const maxSkipped = 1000

// A syntaxError is an error after which the rest of a text means nothing.
type syntaxError struct {
	at            int // in the file, in bytes
	message, hint string
}

func (e *syntaxError) Error() string { return e.message }

// readJSON reads a list, or values one after the other, from a byte of the file on. After
// an error it goes on at the next line that begins an object, unless it is in a list.
func (f *File) readJSON(at int) {
	for {
		r := jsonReader{File: f, base: at, decoder: json.NewDecoder(strings.NewReader(f.text[at:]))}
		r.decoder.UseNumber()
		e, bad := errors.AsType[*syntaxError](r.read())
		if !bad {
			return
		}
		f.rejectSyntax(e.at, e.message, e.hint)
		next := strings.Index(f.text[e.at:], "\n{")
		if next < 0 || r.inList {
			return
		}
		at = e.at + next + 1
	}
}

// A jsonReader reads values with the places where they stand.
type jsonReader struct {
	*File
	decoder *json.Decoder
	base    int // where the decoder began
	inList  bool
}

// read takes all entries. After the last one the error is [io.EOF].
func (r *jsonReader) read() error {
	token, at, err := r.token()
	if token == json.Delim('[') {
		r.inList = true
		for err == nil && r.decoder.More() && !r.full(at) {
			var n node
			if n, err = r.next(maxNesting); err == nil {
				r.entry(n)
			}
		}
		if err == nil {
			_, _, err = r.token()
		}
		if err == io.EOF {
			return r.unclosed()
		}
		if err != nil {
			return err
		}
		if _, at, err = r.token(); err == nil {
			return &syntaxError{at, "the list has ended, and more follows", "jq -s add makes one list of several"}
		}
		return err
	}
	for ; err == nil && !r.full(at); token, at, err = r.token() {
		n, err := r.value(token, at, maxNesting)
		if err != nil {
			return err
		}
		r.entry(n)
	}
	return err
}

func (r *jsonReader) unclosed() error {
	return &syntaxError{max(0, len(strings.TrimRight(r.text, " \t\r\n"))-1), "the file ends before this list or object does", ""}
}

// token returns the next token and where it begins.
func (r *jsonReader) token() (json.Token, int, error) {
	before := r.base + int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	at := len(r.text) - len(strings.TrimLeft(r.text[before:], " \t\r\n,:"))
	switch {
	case err == io.EOF || err == nil:
		return token, at, err
	case err == io.ErrUnexpectedEOF:
		return nil, at, &syntaxError{at, "this value is not closed", ""}
	}
	message := strings.NewReplacer(" looking for beginning of value", ", where a value should be",
		" looking for beginning of object key string", ", where a key in quotes should be").Replace(err.Error())
	return nil, at, &syntaxError{at, message, hintJSON(r.text[:at])}
}

// hintJSON guesses what is wrong after some text.
func hintJSON(before string) string {
	if strings.HasSuffix(strings.TrimRight(before, " \t\r\n"), ",") {
		return "in JSON no comma stands before ] or }, and texts are in double quotes"
	}
	return "in JSON texts are in double quotes; a list in YAML has each entry on a line after \"- \""
}

// next reads a value in a list or an object.
func (r *jsonReader) next(nesting int) (node, error) {
	token, at, err := r.token()
	if err == io.EOF {
		err = r.unclosed()
	}
	if err != nil {
		return node{}, err
	}
	return r.value(token, at, nesting)
}

// value reads the value that a token begins. Lists and objects that are nested deeper
// than an entry can be are skipped.
func (r *jsonReader) value(token json.Token, at, nesting int) (node, error) {
	n := node{Value: Value{at: at, form: formPlain}}
	switch token := token.(type) {
	case string:
		n.Text, n.form = token, formDouble
	case json.Number:
		n.Text = token.String()
	case bool:
		n.Text = strconv.FormatBool(token)
	case nil:
		n.kind, n.form = kindNull, formNone
	case json.Delim:
		n.form = formNone
		if nesting == 0 {
			n.kind, n.Text = kindBad, "it is nested too deep for an entry"
			return n, r.skip()
		}
		err := r.inside(&n, token, nesting-1)
		return n, err
	}
	return n, nil
}

// inside reads what is in a list or an object.
func (r *jsonReader) inside(n *node, open json.Delim, nesting int) error {
	n.kind = kindList
	if open == '{' {
		n.kind = kindObject
	}
	for r.decoder.More() {
		var m member
		if open == '{' {
			token, at, err := r.token()
			if err != nil {
				return err
			}
			key, _ := token.(string)
			m.key = Value{key, at, formDouble}
		}
		var err error
		if m.value, err = r.next(nesting); err != nil {
			return err
		}
		if len(n.items)+len(n.members) == maxValues {
			continue
		}
		if open == '{' {
			n.members = append(n.members, m)
		} else {
			n.items = append(n.items, m.value)
		}
	}
	_, _, err := r.token()
	if err == io.EOF {
		err = r.unclosed()
	}
	return err
}

// skip reads to the end of the list or object that was begun.
func (r *jsonReader) skip() error {
	for depth := 1; depth > 0; {
		token, at, err := r.token()
		switch {
		case err == io.EOF:
			return r.unclosed()
		case err != nil:
			return err
		case token == json.Delim('[') || token == json.Delim('{'):
			depth++
		case token == json.Delim(']') || token == json.Delim('}'):
			depth--
		}
		if depth > maxSkipped {
			return &syntaxError{at, "it is nested too deep", ""}
		}
	}
	return nil
}
