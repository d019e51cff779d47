package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/template"
	"github.com/pollcli/poll/status/expr"
)

// A reference says which URL a document names: by the value of an expression, or in a
// template. The zero value says nothing.
type reference struct {
	source   string
	value    *expr.Expr
	template *urlTemplate
}

func parseReference(s string, opts ...expr.Option) (reference, error) {
	if isURL(s) {
		t, err := parseTemplate(s, opts...)
		return reference{source: s, template: t}, err
	}
	x, err := expr.CompileValue(s, opts...)
	switch {
	case err != nil:
		return reference{}, hintTemplate(s, err)
	case x.NamesEnviron():
		return reference{}, errShown
	}
	return reference{source: s, value: x}, nil
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

// A reader returns the value of an expression for use in a URL. Its error says why there
// is none.
type reader func(x *expr.Expr, env *expr.Env) (string, error)

// resolve returns the place that a document from another one names.
func (r reference) resolve(from place, env *expr.Env, read reader, trustAll bool) (to place, err error) {
	// A template can hold secrets in its query.
	subject := "the URL that it builds"
	var text string
	if r.template != nil {
		text, err = r.template.expand(from.url, env, read)
	} else {
		subject = "the value of " + r.source
		text, err = read(r.value, env)
	}
	if err != nil {
		return place{}, err
	}
	if to, err = from.refer(text, trustAll); err != nil {
		return place{}, fmt.Errorf("%s %w", subject, err)
	}
	return to, nil
}

// env returns what an expression can see of an answer.
func (a *answer) env(ctx context.Context) *expr.Env {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable("the answer is longer than what is kept of it")
	}
	return env
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
		return "", plainError(got.Reason)
	}
	return "", fmt.Errorf("%s is neither text nor a number", x)
}

// A urlTemplate is a URL with expressions in braces.
type urlTemplate struct {
	*template.URL
	values []*expr.Expr
	// parameters is true if it is "?" and parameters of the query. In the URL that they are
	// for, they take the place of those of the same name.
	parameters bool
}

// isURL reports whether text is a URL, or begins with the path or the query of one.
func isURL(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

func parseTemplate(s string, opts ...expr.Option) (*urlTemplate, error) {
	parameters := strings.HasPrefix(s, "?")
	if parameters {
		s = "/" + s
	}
	u, err := template.ParseURL(s)
	if err != nil {
		return nil, err
	}
	t := &urlTemplate{URL: u, parameters: parameters}
	for i, hole := range u.Holes() {
		x, err := expr.CompileValue(hole, opts...)
		switch {
		case err != nil:
			return nil, fmt.Errorf("in braces: %w", err)
		case x.NamesEnviron() && !u.InQuery(i):
			return nil, errShown
		}
		t.values = append(t.values, x)
	}
	if sample := u.Sample(); !strings.HasPrefix(sample, "/") {
		if _, err := ParseURL(sample); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// expand puts values of a document into the template. from is the URL that it is for.
func (t *urlTemplate) expand(from *url.URL, env *expr.Env, read reader) (string, error) {
	filled, err := t.Fill(true, func(hole int) (string, error) { return read(t.values[hole], env) })
	if err != nil || !t.parameters {
		return filled, err
	}
	return "?" + withParameters(from.RawQuery, strings.TrimPrefix(filled, "/?")), nil
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

var (
	// joinedParts matches text and paths that are joined as in jq.
	joinedParts = lazily(`^(?:` + jqText + `|` + jqPath + `)(?:\s*\+\s*(?:` + jqText + `|` + jqPath + `))*$`)
	// interpolated matches a value inside text.
	interpolated = lazily(`\\\(([^()"]*)\)`)
)

const (
	jqText = `"(?:[^"\\{}]|\\\([^()"]*\))*"`
	jqPath = `\(?\s*\.[A-Za-z_][\w.]*(?:\s*\|\s*tostring)?\s*\)?`
)

// hintTemplate adds a hint to the error of an expression: the template that joins the
// same text and values.
func hintTemplate(source string, err error) error {
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
		path, _, _ := strings.Cut(strings.Trim(part, "() "), "|")
		b.WriteString("{" + strings.TrimSpace(path) + "}")
	}
	if !isURL(b.String()) {
		return err
	}
	if _, malformed := parseTemplate(b.String()); malformed == nil {
		e.Hint = "write " + b.String()
	}
	return e
}
