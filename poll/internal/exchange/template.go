package exchange

import (
	"context"
	"errors"
	"fmt"
	"github.com/pollcli/poll/status/expr"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A urlTemplate is a URL with expressions in braces.
type urlTemplate struct {
	texts  []string // one more than values
	values []value
}

func isTemplate(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(s, "/")
}

func parseTemplate(s string) (*urlTemplate, error) {
	t := &urlTemplate{}
	rest := s
	for {
		text, after, found := strings.Cut(rest, "{")
		t.texts = append(t.texts, text)
		if !found {
			break
		}
		end := closingBrace(after)
		if end < 0 {
			return nil, errors.New("a { of the URL is not closed")
		}
		v, err := compileValue(strings.TrimSpace(after[:end]))
		if err != nil {
			return nil, fmt.Errorf("in braces: %w", err)
		}
		t.values = append(t.values, v)
		rest = after[end+1:]
	}
	return t, t.check()
}

// closingBrace returns where the brace that is open at the start of s closes,
// -1 if nowhere. Braces in quotes do not count.
func closingBrace(s string) int {
	depth, quote, escaped := 1, byte(0), false
	for i := range len(s) {
		switch c := s[i]; {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// check expands the template with harmless values to see that a URL comes out.
func (t *urlTemplate) check() error {
	s := strings.Join(t.texts, "0")
	if strings.HasPrefix(s, "/") {
		return nil
	}
	if _, err := ParseURL(s); err != nil {
		return err
	}
	return nil
}

// expand puts the values of the answer's document into the template.
func (t *urlTemplate) expand(ctx context.Context, a *answer) (reference, problem string) {
	var b strings.Builder
	for i, v := range t.values {
		b.WriteString(t.texts[i])
		text, problem := v.text(ctx, a)
		if problem != "" {
			return "", problem
		}
		part := partOf(strings.Join(t.texts[:i+1], "0"))
		if part == inHost && !isHost(text) {
			return "", v.String() + " is no part of a host name"
		}
		if part == inPath && climbs(text) {
			return "", v.String() + " leads out of its place in the path"
		}
		b.WriteString(escape(text, part))
	}
	b.WriteString(t.texts[len(t.values)])
	return b.String(), ""
}

// A urlPart is where in a URL a value is put.
type urlPart uint8

const (
	inHost urlPart = iota
	inPath
	inQuery
)

// partOf says where in a URL the text after prefix is.
func partOf(prefix string) urlPart {
	if strings.ContainsAny(prefix, "?#") {
		return inQuery
	}
	if _, afterScheme, ok := strings.Cut(prefix, "://"); ok && !strings.Contains(afterScheme, "/") {
		return inHost
	}
	return inPath
}

// escape makes text fit into a part of a URL, so that it cannot begin another.
// In a path its slashes stay, as names such as operations/7 have them, but not
// those at its front: after a slash they would begin another host.
func escape(text string, part urlPart) string {
	switch part {
	case inQuery:
		return url.QueryEscape(text)
	case inPath:
		segments := strings.Split(strings.TrimLeft(text, "/"), "/")
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		return strings.Join(segments, "/")
	}
	return text
}

// climbs reports whether text put into a path would remove what stands before it
// (RFC 3986 section 5.2.4).
func climbs(text string) bool {
	return slices.Contains(strings.Split(text, "/"), "..")
}

// isHost reports whether text can be a part of a host name.
func isHost(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// noPlace says what to write instead of a word that by mistake would name a
// field; "" for any other. The mistake would show when the start has been sent.
func noPlace(s string) string {
	switch lower := strings.ToLower(s); lower {
	case "none", "no", "off", "never", "false":
		return "write none"
	case "auto", "yes", "on", "always", "true":
		return "write auto"
	case "location":
		return "write $header.Location for the header, .location for the field"
	}
	return ""
}

// joinedParts matches text and paths that are joined in jq's ways.
var joinedParts = sync.OnceValue(func() *regexp.Regexp {
	const text, path = `"(?:[^"\\{}]|\\\([^()"]*\))*"`, `\(?\s*\.[A-Za-z_][\w.]*(?:\s*\|\s*tostring)?\s*\)?`
	return regexp.MustCompile(`^(?:` + text + `|` + path + `)(?:\s*\+\s*(?:` + text + `|` + path + `))*$`)
})

// interpolated matches a value inside of text.
var interpolated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\\(([^()"]*)\)`) })

// hinted adds to the error of an expression the template that joins the same text
// and values.
func hinted(source string, err error) error {
	e, ok := errors.AsType[*expr.Error](err)
	if !ok || !joinedParts().MatchString(strings.TrimSpace(source)) {
		return err
	}
	var b strings.Builder
	for part := range strings.SplitSeq(source, "+") {
		part = strings.TrimSpace(part)
		if text, quoted := strings.CutPrefix(part, `"`); quoted {
			b.WriteString(interpolated().ReplaceAllString(strings.TrimSuffix(text, `"`), "{$1}"))
			continue
		}
		value, _, _ := strings.Cut(strings.Trim(part, "() "), "|")
		b.WriteString("{" + strings.TrimSpace(value) + "}")
	}
	template := b.String()
	if !isTemplate(template) {
		return err
	}
	if _, malformed := parseTemplate(template); malformed == nil {
		e.Hint = "write " + template
	}
	return e
}

// A value is an expression whose text becomes a URL, or a part of one.
type value struct{ *expr.Expr }

func compileValue(source string) (value, error) {
	x, err := expr.CompileValue(source)
	return value{x}, err
}

// text returns the value in an answer: a string, or a number as it is written
// there. The problem says why there is none.
func (v value) text(ctx context.Context, a *answer) (text, problem string) {
	env := &expr.Env{Doc: expr.NewDoc(a.body), Status: &a.code, Header: a.header, Body: a.body, Context: ctx}
	if a.truncated {
		env.Doc = expr.Unreadable("the answer is longer than what is kept of it")
	}
	switch got := v.Eval(env).Value(); got.Kind {
	case expr.KindString, expr.KindNumber:
		if got.Text() == "" {
			return "", v.String() + " is empty"
		}
		return got.Text(), ""
	case expr.KindUnknown, expr.KindMissing:
		return "", got.Reason
	}
	return "", v.String() + " is neither text nor a number"
}

// mustValue compiles an expression of this package's own.
func mustValue(source string) value {
	v, err := compileValue(source)
	if err != nil {
		panic(err)
	}
	return v
}
