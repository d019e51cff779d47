package targets

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
)

// Item is the placeholder that the text of an entry replaces.
const Item = "{}"

// A Form is the kind of text that contains placeholders. It determines how values are escaped.
type Form uint8

// The forms of a Text.
const (
	Plain    Form = iota // a header: values are not escaped
	Path                 // a path in --follow: values are escaped; only {} is a placeholder, because {.field} is a field of the response
	Body                 // a request body: in JSON, a value is part of a string or a whole JSON value; in an HTML form, values are escaped
	argument             // an argument of a command: values are not escaped; only {} is a placeholder
	address              // a URL: values are escaped as the part of the URL requires
)

// A Text is a URL, an argument of a command, or a flag's value, with the placeholders {} or {.field}.
type Text struct {
	Flag   string // the name of the flag; "" for a URL and an argument
	form   Form
	source string
	holes  []gap
}

// A gap is a placeholder in a Text.
type gap struct {
	start, end int    // offsets in the source
	field      string // the name of the field; "" for {}
	place      place  // the part of the URL that contains the gap; unused outside of URLs
}

// holePattern matches {} and {.field}. Its first group is the name of the field.
var holePattern = words.Pattern(`\{\s*(?:\.([A-Za-z_][A-Za-z0-9_-]*))?\s*\}`)

// HasHole reports whether text contains a placeholder: {} or {.field}.
func HasHole(text string) bool { return holePattern().MatchString(text) }

// newText returns a Text for source with its placeholders. Braces that contain only white space are a placeholder in
// a URL, but not in any other form.
func newText(flag string, form Form, source string) Text {
	t := Text{Flag: flag, form: form, source: source}
	for _, at := range holePattern().FindAllStringSubmatchIndex(source, -1) {
		h := gap{start: at[0], end: at[1], field: source[max(at[2], 0):max(at[3], 0)]}
		isSpaced := h.field == "" && h.end-h.start > len(Item) && form != address
		if !isSpaced && (h.field == "" || form != Path && form != argument) {
			t.holes = append(t.holes, h)
		}
	}
	return t
}

// ParseTexts parses sources, the values of a flag. It returns nil if no value contains a placeholder. In JSON, a
// {} outside of a string is a usage error, because it could also be an empty object.
func ParseTexts(flag string, form Form, sources []string) (texts []Text, err error) {
	hasHole := false
	for _, source := range sources {
		t := newText(flag, form, source)
		for _, h := range t.holes {
			hasHole = true
			if form == Body && t.isJSON() && h.field == "" && !inString(source[:h.start]) {
				return nil, argv.Usagef("{} in JSON could be an empty object, or the text of an entry").
					Hint(`"{}" is the text of an entry, and { } an empty object`)
			}
		}
		texts = append(texts, t)
	}
	if !hasHole {
		return nil, nil
	}
	return texts, nil
}

// Fields returns the names of the fields in t, in order. The name "" stands for the placeholder {}.
func (t Text) Fields() (names []string) {
	for _, h := range t.holes {
		names = append(names, h.field)
	}
	return names
}

// fill returns t after replacing its placeholders. values maps the name of each field to its values, where the name
// "" stands for {}. Several values for the same placeholder are joined with commas. fill returns an error if a value
// is not valid where the placeholder stands. It also returns an error if a value makes the flag's value start with
// "@", because the flag would then read a file.
func (t Text) fill(values map[string][]string) (string, error) {
	var b strings.Builder
	end := 0
	for _, h := range t.holes {
		b.WriteString(t.source[end:h.start])
		for i, value := range values[h.field] {
			escaped, err := t.escape(value, h)
			if err != nil {
				return "", err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(escaped)
		}
		end = h.end
	}
	b.WriteString(t.source[end:])
	filled := b.String()
	if t.Flag != "" && strings.HasPrefix(filled, "@") && !strings.HasPrefix(t.source, "@") {
		return "", fmt.Errorf("--%s would begin with @, and be the name of a file", t.Flag)
	}
	return filled, nil
}

// escape returns value, escaped as the position of the placeholder h in t requires. In a header, an argument, or a
// body that is neither JSON nor a form, it returns value unchanged. It returns an error if value is not valid in
// that part of a URL.
func (t Text) escape(value string, h gap) (string, error) {
	switch {
	case t.form == address:
		return h.place.escape(value)
	case t.form == Path:
		return url.PathEscape(value), nil
	case t.form != Body || strings.HasPrefix(t.source, "@"):
		return value, nil
	case t.isJSON() && inString(t.source[:h.start]):
		quoted := quote(value)
		return quoted[1 : len(quoted)-1], nil
	case t.isJSON() && !json.Valid([]byte(value)):
		return quote(value), nil
	case !t.isJSON() && strings.Contains(t.source, "="):
		return url.QueryEscape(value), nil
	}
	return value, nil
}

// isJSON reports whether t looks like a JSON object or a JSON array. Its values may contain placeholders.
func (t Text) isJSON() bool {
	text := strings.TrimSpace(t.source)
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") && !strings.HasPrefix(text, Item) && text[1] != '.'
}

// inString reports whether the end of text is inside a JSON string.
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

// quote returns value as a JSON string. Unlike json.Marshal, it does not escape <, > and &.
func quote(value string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(value) // every string can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// hole returns the placeholder for field: {.field}, or {} if field is "".
func hole(field string) string {
	if field == "" {
		return Item
	}
	return "{." + field + "}"
}

// A place is the part of a URL that contains a placeholder.
type place uint8

const (
	inPath      place = iota
	inQuery           // in the query or the fragment
	inHost            // in the host name, or in the user name or password before it
	inPort            // in the port
	inAuthority       // the placeholder stands for both the host and the port
)

// placeOf returns the part of the URL u that contains the byte u[at].
func placeOf(u string, at int) place {
	start, end := pathOf(u)
	switch {
	case at >= end:
		return inQuery
	case at >= start:
		return inPath
	}
	scheme := strings.Index(u, "://") + len("://")
	before, after := u[scheme:at], u[at+1:start]
	switch {
	case before+after == "":
		return inAuthority
	case !strings.Contains(after, "@") && strings.Contains(before[strings.LastIndexAny(before, "@]")+1:], ":"):
		return inPort
	}
	return inHost
}

// pathOf returns the offsets of the start and the end of the path in the URL u. The URL may be relative.
func pathOf(u string) (start, end int) {
	end = strings.IndexAny(u+"?", "?#")
	scheme, rest, absolute := strings.Cut(u[:end], "://")
	if !absolute || strings.Contains(scheme, "/") {
		return 0, end
	}
	return end - len(rest) + strings.IndexByte(rest+"/", '/'), end
}

// Patterns for a valid host name, for a port, and for a host with an optional port.
var (
	hostName  = words.Pattern(`^[A-Za-z0-9._-]+$`)
	port      = words.Pattern(`^[0-9]+$`)
	authority = words.Pattern(`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\])(?::[0-9]{1,5})?$`)
)

// escape returns text, escaped as the part p of a URL requires. For the host and the port, it returns text
// unchanged, or an error if text is not valid there. The error continues the sentence "the text ...".
func (p place) escape(text string) (string, error) {
	switch {
	case p == inPath:
		return url.PathEscape(text), nil
	case p == inQuery:
		return url.QueryEscape(text), nil
	case p == inHost && !hostName().MatchString(text):
		return "", errors.New("is not a part of a host name")
	case p == inPort && !port().MatchString(text):
		return "", errors.New("is not a port")
	case p == inAuthority && !authority().MatchString(text):
		return "", errors.New("is not a host, with or without a port")
	}
	return text, nil
}

// dotSegments returns the number of "." and ".." segments in the path of the URL u. Resolving the URL removes
// these segments, and ".." also removes the previous segment (RFC 3986, section 5.2.4).
func dotSegments(u string) int {
	start, end := pathOf(u)
	n := 0
	for segment := range strings.SplitSeq(u[start:end], "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			n++
		}
	}
	return n
}

// escapeUnsafe escapes the bytes in path that are not valid in a URL path (RFC 3986, section 3.3). It does not
// escape existing escape sequences again.
func escapeUnsafe(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c >= 0x80 || strings.IndexByte(" \"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
