package targets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pollcli/poll/internal/template"
)

// Item stands in a template for the text of an entry.
const Item = template.Item

// A Template is a URL or a command that each entry fills.
type Template struct {
	url    *template.URL
	fields []string // of url's holes; "" is the item
	args   []string
	lists  bool // it may be filled with several entries
}

// A TemplateError is an error in a template, with a hint, "" for none.
type TemplateError struct{ Message, Hint string }

func (e *TemplateError) Error() string { return e.Message }

// ParseURL parses a URL with {} or {.field} in it. The error is a [*TemplateError] and
// repeats no part of the URL but a field. Whether a filled URL can be requested is for
// the caller to say.
func ParseURL(s string) (*Template, error) {
	u, err := template.ParseURL(s)
	if err != nil {
		return nil, &TemplateError{err.Error(), "a brace itself is written %7B"}
	}
	t := &Template{url: u}
	for _, hole := range u.Holes() {
		field := strings.TrimPrefix(hole, ".")
		if hole != "" && (field == hole || !fieldName().MatchString(field)) {
			err := &TemplateError{"braces may be empty, {}, or name a field of an entry, {.id}", "a brace itself is written %7B"}
			if fieldName().MatchString(hole) {
				err.Hint = "did you mean {}, or {." + hole + "} for a field of an entry that is an object?"
			}
			return nil, err
		}
		t.fields = append(t.fields, field)
	}
	if len(t.fields) == 0 {
		return nil, &TemplateError{"the URL has no {} or {.field}, so all targets would be the same",
			"put {} where the text of an entry belongs, or give no URL if each entry is one"}
	}
	return t, nil
}

func fieldName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) }

// ParseCommand checks a command with {} in its arguments. The error is a
// [*TemplateError].
func ParseCommand(args []string) (*Template, error) {
	err := template.Args(args)
	switch {
	case errors.Is(err, template.ErrNoItem):
		return nil, &TemplateError{err.Error() + ", so all targets would be the same",
			"put {} where the text of an entry belongs"}
	case errors.Is(err, template.ErrScript):
		return nil, &TemplateError{err.Error(), `give it to the script as an argument: sh -c 'echo "$1"' sh {}`}
	case err != nil:
		return nil, &TemplateError{err.Error(), "without a command, each entry is a URL, or an object with a url or a command"}
	}
	return &Template{args: args}, nil
}

// Fields returns the fields of the holes, "" for the item.
func (t *Template) Fields() []string {
	switch {
	case t == nil:
		return nil
	case t.url == nil:
		return []string{""}
	}
	return t.fields
}

// Batch makes a template one that entries fill which only are keys, so many at once. The
// error is a [*TemplateError].
func (t *Template) Batch(most int) error {
	t.lists = most > 1
	for i, field := range t.fields {
		switch {
		case field != "":
			return &TemplateError{"an entry is a key here, and has no field for " + hole(field), "write {} for the entry itself"}
		case t.lists && !t.url.TakesList(i):
			return &TemplateError{"in the host or the port there is no room for several entries", ""}
		}
	}
	return nil
}

// Fill returns the URL that is filled with items, joined by commas, or the words of the
// command: {} alone becomes a word for each of them.
func (t *Template) Fill(items []string) (url string, command []string, err error) {
	return t.fill(func(string) ([]string, error) { return items, nil })
}

// fill returns the filled URL or command. values returns what a hole stands for.
func (t *Template) fill(values func(field string) ([]string, error)) (url string, command []string, err error) {
	if t.url != nil {
		url, err = t.url.Fill(func(hole int) ([]string, error) { return values(t.fields[hole]) })
		return url, nil, err
	}
	items, err := values("")
	if err != nil {
		return "", nil, err
	}
	for i, arg := range t.args {
		filled, err := template.ArgList(arg, items)
		if joined := t.lists && arg != template.Item && strings.Contains(arg, template.Item); joined && len(items) == 1 && strings.Contains(items[0], ",") {
			err = errors.New("joins entries by commas, and this one holds a comma")
		}
		if err != nil {
			return "", nil, fmt.Errorf("argument %d of the command %w", i, err)
		}
		command = append(command, filled...)
	}
	return "", command, nil
}
