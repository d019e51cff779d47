package targets

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/pollcli/poll/internal/words"
)

// Item is the part of a text that is replaced by the text of an entry.
const Item = "{}"

// A Form is the form of a text that entries fill. It determines how values are escaped.
type Form uint8

// The forms.
const (
	Plain    Form = iota // a header: values stay as they are
	Path                 // a path of --follow: values are escaped, and {.field} is a field of the response, not of the entry
	Body                 // JSON, where a value is part of a string or a whole value; or an HTML form
	argument             // an argument of a command: values stay as they are, and only {} is replaced
	address              // a URL: values are escaped for their part of the URL
)

// A Text is a text with {} or {.field}: a URL, an argument of a command, or the value of a flag.
type Text struct {
	Flag   string // "" for a URL and an argument
	form   Form
	source string
	holes  []gap
}

// A gap is a part of a text that is replaced by a value.
type gap struct {
	start, end int    // in the source
	field      string // "" is the item
	place      place  // in a URL
}

// holePattern matches {} and {.field}. Its group is the name of the field.
var holePattern = words.Pattern(`\{\s*(?:\.([A-Za-z_][A-Za-z0-9_-]*))?\s*\}`)

// HasHole reports whether text contains {} or {.field}.
func HasHole(text string) bool { return holePattern().MatchString(text) }

// newText returns source with its holes. Only in a URL are braces with space inside a hole.
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

// ParseTexts returns the values sources of flag. It returns nil if no value has a field. The error is an
// [*Error]: in JSON, {} outside of a string would be ambiguous.
func ParseTexts(flag string, form Form, sources []string) (texts []Text, err error) {
	hasHole := false
	for _, source := range sources {
		t := newText(flag, form, source)
		for _, h := range t.holes {
			hasHole = true
			if form == Body && t.isJSON() && h.field == "" && !inString(source[:h.start]) {
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

// Fields returns the names of the fields in t, in their order. "" stands for the item.
func (t Text) Fields() (names []string) {
	for _, h := range t.holes {
		names = append(names, h.field)
	}
	return names
}

// fill returns t filled with values, by the names of the fields. Several values of a field are joined by commas.
// It fails if a value cannot be in its place, or if only a value makes the value of a flag start with @: the flag
// would then read a file.
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

// escape returns value escaped for the place of h in t.
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

// isJSON reports whether t looks like a JSON object or list. A field of t may be in the place of a value.
func (t Text) isJSON() bool {
	text := strings.TrimSpace(t.source)
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

// quote returns value as a JSON string. Unlike json.Marshal, it leaves <, > and & as they are.
func quote(value string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(value) // every string has a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// An Error is an error in a targets file or a template. Its message repeats nothing from the file except keys
// and fields, since values may be secret.
type Error struct {
	File string // "" for a template
	Line int    // from 1; 0 if the error concerns the whole file
	Err  error
	Hint string // "" if there is no hint
}

// Error returns the position and the message: "targets.yaml:14: until: it is empty".
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Err.Error()
	case e.Line == 0:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the error without its position.
func (e *Error) Unwrap() error { return e.Err }

// wrong returns an error about line. [Read] adds the name of the file.
func wrong(line int, hint, format string, args ...any) *Error {
	return &Error{Line: line, Err: fmt.Errorf(format, args...), Hint: hint}
}

// hole returns field in the form that a template has: {} or {.field}.
func hole(field string) string {
	if field == "" {
		return Item
	}
	return "{." + field + "}"
}

// A place is a part of a URL that a value is put into.
type place uint8

const (
	inPath      place = iota
	inQuery           // in the query or the fragment
	inHost            // in the host name, or in the user name or password before it
	inPort            // in the port
	inAuthority       // the field is the whole host and port
)

// placeOf returns the part of the URL u that contains the byte at the offset at.
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

// pathOf returns the offsets of the start and the end of the path in the URL u.
func pathOf(u string) (start, end int) {
	end = strings.IndexAny(u+"?", "?#")
	scheme, rest, absolute := strings.Cut(u[:end], "://")
	if !absolute || strings.Contains(scheme, "/") {
		return 0, end
	}
	return end - len(rest) + strings.IndexByte(rest+"/", '/'), end
}

// The texts that a host name, a port, or a host and a port consist of.
var (
	hostName  = words.Pattern(`^[A-Za-z0-9._-]+$`)
	port      = words.Pattern(`^[0-9]+$`)
	authority = words.Pattern(`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\])(?::[0-9]{1,5})?$`)
)

// escape returns text escaped for the place p. The error is the reason why text cannot be there.
func (p place) escape(text string) (string, error) {
	switch {
	case p == inPath:
		return url.PathEscape(text), nil
	case p == inQuery:
		return url.QueryEscape(text), nil
	case p == inHost && !hostName().MatchString(text):
		return "", errors.New("is no part of a host name")
	case p == inPort && !port().MatchString(text):
		return "", errors.New("is no port")
	case p == inAuthority && !authority().MatchString(text):
		return "", errors.New("is no host, with or without a port")
	}
	return text, nil
}

// dotSegments returns the number of segments "." and ".." in the path of the URL u. When the URL is resolved,
// these segments are removed, and ".." removes the previous segment (RFC 3986 section 5.2.4).
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

// escapeUnsafe returns path after escaping the bytes that must not be in a path (RFC 3986 section 3.3).
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
