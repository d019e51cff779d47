package targets

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	const brace = "a brace itself is written %7B"
	for template, want := range map[string]string{
		"http://h/{}":          "",
		"http://h/{.id}":       "",
		"http://h/{ .a-b_C1 }": "",
		"http://h/{id}":        "in braces stands nothing, or a field of an entry: {} or {.id}; did you mean {.id}?",
		"http://h/{.a.b}":      "in braces stands nothing, or a field of an entry: {} or {.id}; " + brace,
		"http://h/{.}":         "in braces stands nothing, or a field of an entry: {} or {.id}; " + brace,
		`http://h/{"a":1}`:     "in braces stands nothing, or a field of an entry: {} or {.id}; " + brace,
		"http://h/{":           "a { of the URL is not closed; " + brace,
		"{}":                   "a { of the URL stands in its scheme; " + brace,
		"http://h/": "the URL has no {} or {.field}, so all targets would be the same; " +
			"put {} where the text of an entry belongs, or give no URL if each entry is one",
	} {
		_, err := ParseURL(template)
		if have := wordsOf(err); have != want {
			t.Errorf("%s: have %q, want %q", template, have, want)
		}
	}
}

func TestParseCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"get {}":         "",
		"get {.id}":      "no argument of the command has a {}, so all targets would be the same; put {} where the text of an entry belongs",
		"sh -c {}":       "{} is in the script of a shell, which would run what the items say; give it to the script as an argument: sh -c 'echo \"$1\"' sh {}",
		"{} get":         "{} is no program: items fill the arguments of a command; without a command, each entry is a URL, or an object with a url or a command",
		"sh -c {.id} {}": "",
	} {
		_, err := ParseCommand(strings.Fields(command))
		if have := wordsOf(err); have != want {
			t.Errorf("%s: have %q, want %q", command, have, want)
		}
	}
}

// wordsOf returns the message and the hint of an error, "" for none.
func wordsOf(err error) string {
	if e, ok := errors.AsType[*TemplateError](err); ok {
		return e.Error() + "; " + e.Hint
	}
	return strings.TrimPrefix(fmt.Sprint(err), "<nil>")
}
