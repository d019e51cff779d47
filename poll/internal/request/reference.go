package request

import (
	"errors"
	"fmt"
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
	switch {
	case err != nil:
		return reference{}, err
	case x.NamesEnviron():
		return reference{}, errShown
	}
	return reference{source: s, value: x}, nil
}

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
