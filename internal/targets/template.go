package targets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pollcli/poll/internal/template"
)

// A Template is a URL or a command that each entry fills.
type Template struct {
	url    *template.URL
	fields []string // of url's holes; "" is the item
	args   []string
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
			err := &TemplateError{"in braces stands nothing, or a field of an entry: {} or {.id}", "a brace itself is written %7B"}
			if fieldName().MatchString(hole) {
				err.Hint = "did you mean {." + hole + "}?"
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

// holes returns the fields of the holes, "" for the item.
func (t *Template) holes() []string {
	switch {
	case t == nil:
		return nil
	case t.url == nil:
		return []string{""}
	}
	return t.fields
}

// fill sets the URL or the command of an entry. value returns what a hole stands for.
func (t *Template) fill(e *Entry, value func(field string) (string, error)) (err error) {
	if t.url != nil {
		e.URL, err = t.url.Fill(false, func(hole int) (string, error) { return value(t.fields[hole]) })
		return err
	}
	item, err := value("")
	if err != nil {
		return err
	}
	e.Command = make([]string, len(t.args))
	for i, arg := range t.args {
		if e.Command[i], err = template.Arg(arg, item); err != nil {
			return fmt.Errorf("argument %d of the command %w", i, err)
		}
	}
	return nil
}
