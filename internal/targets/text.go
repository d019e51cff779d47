package targets

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// A Form is the form of a text that entries fill. It determines how values are escaped.
type Form uint8

// The forms.
const (
	Plain Form = iota // a header: values stay as they are
	Path              // a path of --follow: values are escaped, and {.field} is a field of the response, not of the entry
	Body              // JSON, where a value is part of a string or a whole value; or an HTML form
)

// A Text is the value of a flag, which may contain {} or {.field}.
type Text struct {
	Flag   string
	Form   Form
	Source string
}

// holePattern matches {} and {.field}. Its group is the name of the field.
var holePattern = words.Pattern(`\{\s*(?:\.([A-Za-z_][A-Za-z0-9_-]*))?\s*\}`)

// HasHole reports whether text contains {} or {.field}.
func HasHole(text string) bool { return holePattern().MatchString(text) }

// ParseTexts returns the values sources of flag. It returns nil if no value has a field. The error is an
// [*Error]: in JSON, {} outside of a string would be ambiguous.
func ParseTexts(flag string, form Form, sources []string) (texts []Text, err error) {
	hasHole := false
	for _, source := range sources {
		t := Text{flag, form, source}
		for _, at := range t.holes() {
			hasHole = true
			if form == Body && t.isJSON() && at[2] < 0 && !inString(source[:at[0]]) {
				return nil, wrong(0, `"{}" is the text of an entry, and { } an empty object`, "{} in JSON could be an empty object, or the text of an entry")
			}
		}
		texts = append(texts, t)
	}
	if !hasHole {
		return nil, nil
	}
	return texts, nil
}

// holes returns the positions of the fields in t, in the form of [regexp.Regexp.FindAllStringSubmatchIndex].
// Braces with only space inside are not a field. In the form Path only {} is a field.
func (t Text) holes() [][]int {
	all := holePattern().FindAllStringSubmatchIndex(t.Source, -1)
	return slices.DeleteFunc(all, func(at []int) bool {
		isSpaced := at[2] < 0 && at[1]-at[0] > len(Item)
		return isSpaced || t.Form == Path && at[2] >= 0
	})
}

// Fields returns the names of the fields in t, in their order. "" stands for the item.
func (t Text) Fields() (names []string) {
	for _, at := range t.holes() {
		names = append(names, t.Source[max(at[2], 0):max(at[3], 0)])
	}
	return names
}

// isJSON reports whether t looks like a JSON object or list. A field of t may be in the place of a value.
func (t Text) isJSON() bool {
	text := strings.TrimSpace(t.Source)
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") && !strings.HasPrefix(text, Item) && text[1] != '.'
}

// inString reports whether text ends within a JSON string.
func inString(text string) bool {
	isOpen := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			isOpen = !isOpen
		case text[i] == '\\' && isOpen:
			i++
		}
	}
	return isOpen
}

// fill returns t filled with values, by the names of the fields. It fails if only a value makes the text start
// with @: the flag would then read a file.
func (t Text) fill(values map[string][]string) (string, error) {
	var b strings.Builder
	end := 0
	for i, name := range t.Fields() {
		at := t.holes()[i]
		b.WriteString(t.Source[end:at[0]])
		b.WriteString(t.escape(values[name][0], inString(t.Source[:at[0]])))
		end = at[1]
	}
	b.WriteString(t.Source[end:])
	filled := b.String()
	if strings.HasPrefix(filled, "@") && !strings.HasPrefix(t.Source, "@") {
		return "", wrong(0, "", "--%s would begin with @, and be the name of a file", t.Flag)
	}
	return filled, nil
}

// quote returns value as a JSON string. Unlike json.Marshal, it leaves <, > and & as they are.
func quote(value string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(value) // every string has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// escape returns value escaped for its position in t. inString means that the position is inside a JSON string.
func (t Text) escape(value string, inString bool) string {
	quoted := quote(value)
	switch {
	case t.Form == Path:
		return url.PathEscape(value)
	case t.Form == Plain || strings.HasPrefix(t.Source, "@"):
		return value
	case t.isJSON() && inString:
		return quoted[1 : len(quoted)-1]
	case t.isJSON() && !json.Valid([]byte(value)):
		return quoted
	case !t.isJSON() && strings.Contains(t.Source, "="):
		return url.QueryEscape(value)
	}
	return value
}
