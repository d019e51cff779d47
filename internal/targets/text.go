package targets

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// A Form is the form of a text that entries fill.
type Form uint8

// The forms.
const (
	Plain Form = iota // a header: values stand as they are
	Path              // a path of --follow: values are escaped, and {.field} is a field of the response
	Body              // JSON, in which a value is a part of a text or a value of its own, or else a form
)

// A Text is the value of a flag with {} or {.field} in it.
type Text struct {
	Flag   string
	Form   Form
	Source string
}

// holePattern finds {} and {.field}.
var holePattern = words.Pattern(`\{\s*(?:\.([A-Za-z_][A-Za-z0-9_-]*))?\s*\}`)

// HasHole reports whether a text of the command line has {} or {.field} in it.
func HasHole(text string) bool { return holePattern().MatchString(text) }

// ParseTexts returns the values of a flag, nil if no value has a field. The error is an [*Error].
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

// holes returns the places of the fields, as [regexp.Regexp.FindAllStringSubmatchIndex] does.
func (t Text) holes() [][]int {
	all := holePattern().FindAllStringSubmatchIndex(t.Source, -1)
	return slices.DeleteFunc(all, func(at []int) bool {
		isSpaced := at[2] < 0 && at[1]-at[0] > len(Item)
		return isSpaced || t.Form == Path && at[2] >= 0
	})
}

// Fields returns the names of the fields, "" for the item.
func (t Text) Fields() (names []string) {
	for _, at := range t.holes() {
		names = append(names, t.Source[max(at[2], 0):max(at[3], 0)])
	}
	return names
}

// isJSON reports whether a body is a JSON document, with fields in the place of values.
func (t Text) isJSON() bool {
	text := strings.TrimSpace(t.Source)
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") && !strings.HasPrefix(text, Item) && text[1] != '.'
}

// inString reports whether a text ends within a JSON string.
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

// fill returns the text with the values of the fields.
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

// quote returns a JSON string, in which < and & stay as they are.
func quote(value string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(value) // a string has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// escape escapes a value for its place.
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
