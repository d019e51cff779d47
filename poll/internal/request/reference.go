package request

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/status/expr"
)

// A reference says which URL a document names: by the value of an expression, or in a
// template. The zero value says nothing.
type reference struct {
	source   string
	value    *expr.Expr
	template *template
}

func parseReference(s string, opts ...expr.Option) (reference, error) {
	if isURL(s) {
		t, err := parseTemplate(s, opts...)
		return reference{source: s, template: t}, err
	}
	x, err := expr.CompileValue(s, opts...)
	if e, ok := errors.AsType[*expr.Error](err); ok && strings.HasPrefix(s, `"`) {
		e.Hint = inBraces
	}
	switch {
	case err != nil:
		return reference{}, err
	case x.NamesEnviron():
		return reference{}, errShown
	}
	return reference{source: s, value: x}, nil
}

// inBraces is what to write in place of what builds a URL in jq.
const inBraces = "values of a URL stand in braces, as in /jobs/{.id}"

// errShown refuses a secret in a URL.
const errShown plainError = "a variable of the environment can stand only in the query of a URL in braces, " +
	"as in /jobs/{.id}?key={$ENV.KEY}: the rest of a URL is shown"

// isURL reports whether text is a URL, or begins with the path or the query of one.
func isURL(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

// instead says what to write for a word that would name a field by mistake, "" for any
// other word. The mistake would show only after the start was sent.
func instead(s string) string {
	switch strings.ToLower(s) {
	case "none", "no", "off", "never", "false":
		return "none"
	case "auto", "yes", "on", "always", "true":
		return "auto"
	case "location":
		return "$header.Location for the header, .location for the field"
	}
	return ""
}

// explicit reports whether the user said what to take the URL from.
func (r reference) explicit() bool { return r.value != nil || r.template != nil }

// varies reports whether the URL depends on the answer.
func (r reference) varies() bool {
	return r.reads(func(u expr.Uses) bool { return u != 0 })
}

// reads reports whether what one of its expressions uses is of some kind.
func (r reference) reads(some func(expr.Uses) bool) bool {
	values := []*expr.Expr{r.value}
	if r.template != nil {
		values = r.template.values
	}
	return slices.ContainsFunc(values, func(x *expr.Expr) bool { return x != nil && some(x.Uses()) })
}

// namesEnviron reports whether the URL is built from a variable of the environment.
func (r reference) namesEnviron() bool {
	return r.template != nil && slices.ContainsFunc(r.template.values, (*expr.Expr).NamesEnviron)
}

// A reader returns the value of an expression for use in a URL. Its error says why there
// is none.
type reader func(x *expr.Expr, env *expr.Env) (string, error)

// resolve returns the place that a document from another one names.
func (r reference) resolve(c *client, from place, env *expr.Env, read reader) (to place, err error) {
	// A template can hold secrets in its query.
	subject := "the URL that it builds"
	var text string
	if r.template != nil {
		text, err = r.template.fill(from.url, env, read)
	} else {
		subject = "the value of " + r.source
		text, err = read(r.value, env)
	}
	if err != nil {
		return place{}, err
	}
	if to, err = c.refer(from, text); err != nil {
		return place{}, fmt.Errorf("%s %w", subject, err)
	}
	return to, nil
}

// text reads a string that is not empty, or a number as it is written.
func text(x *expr.Expr, env *expr.Env) (string, error) { return textOf(x, x.Eval(env).Value()) }

func textOf(x *expr.Expr, got expr.Value) (string, error) {
	switch got.Kind {
	case expr.KindString, expr.KindNumber:
		if got.Text() == "" {
			return "", fmt.Errorf("%s is empty", x)
		}
		return got.Text(), nil
	case expr.KindUnknown, expr.KindMissing:
		return "", errors.New(got.Reason)
	}
	return "", fmt.Errorf("%s is neither text nor a number", x)
}

// A template is a URL, or the path of one, with expressions in braces.
type template struct {
	texts  []string // one more than values
	values []*expr.Expr
	// parameters is true if it is "?" and parameters of the query. In the URL that they are
	// for, they take the place of those of the same name.
	parameters bool
}

// parseTemplate parses a template. The error repeats no part of it but an expression, since
// a URL can hold secrets.
func parseTemplate(s string, opts ...expr.Option) (*template, error) {
	if strings.Contains(s, `\(`) {
		return nil, errors.New(inBraces)
	}
	t := &template{parameters: strings.HasPrefix(s, "?")}
	for {
		text, rest, found := strings.Cut(s, "{")
		t.texts = append(t.texts, text)
		if !found {
			break
		}
		x, after, err := cutExpression(rest, opts...)
		if err != nil {
			return nil, err
		}
		t.values, s = append(t.values, x), after
		if x.NamesEnviron() && partAt(t.sample()) != inQuery {
			return nil, errShown
		}
	}
	if sample := t.sample(); !strings.HasPrefix(sample, "/") && !t.parameters {
		if _, err := ParseURL(sample); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// cutExpression cuts text behind an expression, which ends with the first brace that makes
// it one.
func cutExpression(s string, opts ...expr.Option) (x *expr.Expr, after string, err error) {
	err = errors.New("a { of the URL is not closed")
	for end, c := range s {
		if c != '}' {
			continue
		}
		x, malformed := expr.CompileValue(strings.TrimSpace(s[:end]), opts...)
		if malformed == nil {
			return x, s[end+1:], nil
		}
		if !errors.Is(err, errBraces) {
			err = fmt.Errorf("%w: %w", errBraces, malformed)
		}
	}
	return nil, "", err
}

var errBraces = errors.New("in braces")

// sample returns the template with a 0 in place of each expression.
func (t *template) sample() string { return strings.Join(t.texts, "0") }

// fill puts values of a document into the template, escaped for their place, so that none
// can begin another part of the URL. Slashes within a value in the path stay, for names such
// as operations/7. from is the URL that the template is for.
func (t *template) fill(from *url.URL, env *expr.Env, read reader) (string, error) {
	var b strings.Builder
	for i, x := range t.values {
		b.WriteString(t.texts[i])
		value, err := read(x, env)
		if err != nil {
			return "", err
		}
		escaped, ok := escape(value, partAt(b.String()))
		if !ok {
			return "", fmt.Errorf("%s is no part of a host", x)
		}
		b.WriteString(escaped)
	}
	b.WriteString(t.texts[len(t.values)])
	switch {
	case t.parameters:
		return "?" + withParameters(from.RawQuery, b.String()[1:]), nil
	case dotSegments(b.String()) > dotSegments(t.sample()):
		return "", errors.New("a value leads out of its place in the path")
	}
	return b.String(), nil
}

// A part is one of a URL.
type part uint8

const (
	inPath  part = iota
	inHost       // or the port
	inQuery      // or the fragment
)

// partAt returns in which part of a URL text stands that follows its beginning.
func partAt(before string) part {
	_, rest, absolute := strings.Cut(before, "://")
	switch {
	case strings.ContainsAny(before, "?#"):
		return inQuery
	case absolute && !strings.Contains(rest, "/"):
		return inHost
	}
	return inPath
}

// escape escapes text for a part of a URL, or reports that it cannot stand there.
func escape(text string, p part) (escaped string, ok bool) {
	switch p {
	case inQuery:
		return url.QueryEscape(text), true
	case inHost:
		return text, !strings.ContainsFunc(text, notInHost)
	}
	// After a slash, leading ones would begin a host.
	segments := strings.Split(strings.TrimLeft(text, "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), true
}

// notInHost reports whether a character stands in no host with or without a port. Whether
// all of them together are one shows when the URL is parsed.
func notInHost(r rune) bool {
	return !strings.ContainsRune("-.:[]_", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// dotSegments counts the segments of a URL's path that are removed when it is resolved,
// with the ones before them (RFC 3986 section 5.2.4).
func dotSegments(u string) (n int) {
	path := u[:strings.IndexAny(u+"?", "?#")]
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			n++
		}
	}
	return n
}

// withParameters returns a query in which some parameters take the place of those of the
// same name.
func withParameters(query, some string) string {
	names, _ := url.ParseQuery(some)
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); pair != "" && (err != nil || !names.Has(plain)) {
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(append(pairs, some), "&")
}
