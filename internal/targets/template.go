package targets

import (
	"errors"
	"regexp"
	"strings"
)

// Item stands in a template for the text of an entry.
const Item = "{}"

// A Template is a URL or a command that each entry fills.
type Template struct {
	args  []string // of a command, nil for a URL
	lists bool     // it may be filled with several entries

	texts  []string // of a URL, one more than fields
	fields []string // what stands between them; "" is the item
	places []place  // of the fields
	sample string   // the URL with a 0 for each field
	dots   int      // dot segments in the path of the sample
}

const escapedBrace = "a brace itself is written %7B"

// ParseURL parses a URL with {} or {.field} in it. The error is an [*Error] and
// repeats no part of the URL but a field. Whether a filled URL can be requested is for
// the caller to say.
func ParseURL(s string) (*Template, error) {
	t := &Template{}
	for {
		text, rest, found := strings.Cut(s, "{")
		t.texts = append(t.texts, text)
		if !found {
			break
		}
		hole, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, wrong(0, escapedBrace, "a { of the URL is not closed")
		}
		field, err := fieldOf(strings.TrimSpace(hole))
		if err != nil {
			return nil, err
		}
		t.fields, s = append(t.fields, field), after
	}
	switch first := t.texts[0]; {
	case len(t.fields) == 0:
		return nil, wrong(0, "put {} where the text of an entry belongs, or give no URL if each entry is one",
			"the URL has no {} or {.field}, so all targets would be the same")
	case !strings.HasPrefix(first, "/") && !strings.Contains(first, "://"):
		return nil, wrong(0, escapedBrace, "the scheme of the URL has a {")
	}
	return t, t.locate()
}

// fieldOf returns the field that stands in braces, "" for the item.
func fieldOf(hole string) (string, error) {
	name := regexp.MustCompile(`^\.?[A-Za-z_][A-Za-z0-9_-]*$`)
	switch {
	case hole == "":
		return "", nil
	case !name.MatchString(hole):
		return "", wrong(0, escapedBrace, "braces may be empty, {}, or name a field of an entry, {.id}")
	case hole[0] != '.':
		return "", wrong(0, "did you mean {}, or {."+hole+"} for a field of an entry that is an object?",
			"braces may be empty, {}, or name a field of an entry, {.id}")
	}
	return hole[1:], nil
}

// locate finds the places of the fields. It escapes what has to be escaped in the path of the
// template itself: otherwise [net/url.URL] would escape all of the path again, and make slashes
// of those in a value.
func (t *Template) locate() error {
	start, end := pathOf(strings.Join(t.texts, "0"))
	for i, text := range t.texts {
		from, to := min(max(start, 0), len(text)), min(max(end, 0), len(text))
		t.texts[i] = text[:from] + escapeUnsafe(text[from:to]) + text[to:]
		start, end = start-len(text)-1, end-len(text)-1
	}
	t.sample = strings.Join(t.texts, "0")
	t.dots = dotSegments(t.sample)
	at := 0
	for _, text := range t.texts[:len(t.fields)] {
		at += len(text)
		if splitsEscape(t.sample[:at]) {
			return wrong(0, escapedBrace, "the URL has a { within a character that is escaped with %%")
		}
		t.places = append(t.places, placeOf(t.sample, at))
		at++
	}
	return nil
}

// Fields returns the fields of the entries that the template has, "" for the item.
func (t *Template) Fields() []string {
	switch {
	case t == nil:
		return nil
	case t.args != nil:
		return []string{""}
	}
	return t.fields
}

// Batch makes a template one that entries fill which only are keys, so many at once. The
// error is an [*Error].
func (t *Template) Batch(most int) error {
	t.lists = most > 1
	for i, field := range t.fields {
		switch {
		case field != "":
			return wrong(0, "write {} for the entry itself", "here an entry is a key, and has no field for %s", hole(field))
		case t.lists && t.places[i] != inPath && t.places[i] != inQuery:
			return wrong(0, "", "several entries do not fit into the host or the port")
		}
	}
	return nil
}

// Fill returns the URL that is filled with items, joined by commas, or the words of the
// command: {} alone becomes a word for each of them.
func (t *Template) Fill(items []string) (url string, command []string, err error) {
	return t.fill(map[string][]string{"": items})
}

// fill returns the URL or the command that is filled with the values of its fields.
func (t *Template) fill(values map[string][]string) (url string, command []string, err error) {
	if t.args == nil {
		url, err = t.fillURL(values)
	} else {
		command, err = t.fillCommand(values[""])
	}
	return url, command, err
}

// fillURL puts the values of each field into the URL, each escaped for its place, and with
// commas between them, so that none can begin another part of the URL: it can neither leave
// its place in the path nor add a parameter to the query, and only a field in the host or the
// port changes these. A field that is host and port as a whole takes "host", "host:port" and
// "[IPv6]:port". A value is always one segment of the path.
func (t *Template) fillURL(values map[string][]string) (string, error) {
	var b strings.Builder
	b.Grow(len(t.sample) + 16*len(t.fields))
	for i, field := range t.fields {
		b.WriteString(t.texts[i])
		for j, text := range values[field] {
			escaped, problem := t.places[i].escape(text)
			if problem == "" && t.places[i] == inPath && strings.Contains(text, ".") &&
				dotSegments(b.String()+escaped+strings.Join(t.texts[i+1:], "0")) > t.dots {
				problem = "leads out of its place in the path"
			}
			if problem != "" {
				return "", errors.New("in the URL, the text " + problem)
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(escaped)
		}
	}
	b.WriteString(t.texts[len(t.fields)])
	return b.String(), nil
}
