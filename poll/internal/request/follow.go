package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status/expr"
)

// A follow says where to look after the first answer: a reference, or "", "auto", "none" or
// "self".
type follow struct{ reference }

// parseFollow parses poll.HTTP's Follow.
func parseFollow(s string, opts ...expr.Option) (follow, error) {
	r, err := parseReference(s, []string{"", "auto", "none", "self"}, opts...)
	if err == nil && r.explicit() && r.texts == nil && !r.varies() {
		err = fmt.Errorf("%s is the same for every answer, and names no URL", s)
	}
	return follow{r}, err
}

// A link is a location that an answer names.
type link struct {
	to      location
	monitor meaning.Monitor
	source  string // the header or document that named it, in words
}

// find returns where an answer links to. Without a link, the error says why
// a header or a document that names one could not be used, if there is any.
func (f follow) find(ctx context.Context, c *client, a *answer) (link, error) {
	if f.explicit() {
		to, err := f.resolve(c, a.asked.at, a.env(ctx), text)
		if err != nil {
			return link{}, err
		}
		return link{to, meaning.MonitorBuilt, "its document"}, nil
	}
	l, problem := c.headerLink(a, meaning.MonitorGiven)
	if l.to.url == nil && (c.Method == http.MethodPut || c.Method == http.MethodPatch) && hasProvisioningState(a) {
		l = link{a.asked.at, meaning.MonitorAzure, "its provisioningState"}
	}
	return l, problem
}

// headerLink returns the link in a header of an answer; the first that is present counts:
// Azure's Resource Manager RPC (asynchronous operations), Azure's API guidelines, RFC 9110
// sections 10.2.2 and 15.3.3, and FHIR's Bulk Data export (Content-Location). Any answer of a
// monitor can name another URL for it, in the header that named the monitor; with MonitorGiven every
// header counts. The Content-Location counts in a 202 to the start only: in other responses, it
// identifies the response itself (RFC 9110 section 8.7).
func (c *client) headerLink(a *answer, kind meaning.Monitor) (l link, problem error) {
	if kind == meaning.MonitorCreated {
		kind = meaning.MonitorLocation
	}
	links := []link{
		{source: "Azure-AsyncOperation", monitor: meaning.MonitorAzure},
		{source: "Operation-Location", monitor: meaning.MonitorAzure},
		{source: "Location", monitor: meaning.MonitorLocation},
	}
	if kind == meaning.MonitorGiven && a.code == http.StatusAccepted {
		links = append(links, link{source: "Content-Location", monitor: meaning.MonitorLocation})
	}
	for _, l := range links {
		reference := a.Header.Get(l.source)
		if reference == "" || !a.Good() || kind != meaning.MonitorGiven && kind != l.monitor {
			continue
		}
		if l.monitor == meaning.MonitorLocation && a.code == http.StatusCreated {
			l.monitor = meaning.MonitorCreated
		} else if l.monitor == meaning.MonitorLocation && a.code != http.StatusAccepted && !(kind == meaning.MonitorGiven && isOpen(a)) {
			continue
		}
		to, err := c.refer(a.asked.at, reference)
		if err == nil {
			return link{to, l.monitor, l.source}, problem
		}
		problem = fmt.Errorf("%s ignored: it %w", l.source, err)
	}
	return link{}, problem
}

// isOpen reports whether the document of a response reports an unfinished operation. The Location of
// such a 200 is followed, too: ACME returns a Location after an order is finalized (RFC 8555 section 7.4).
func isOpen(a *answer) bool {
	return document.Read(expr.NewDoc(a.Body).Bytes(), a.code).State.Stage == document.Open
}

// hasProvisioningState reports whether an answer is an Azure resource, or a status in
// the form of one.
func hasProvisioningState(a *answer) bool {
	var resource struct {
		Properties struct{ ProvisioningState any }
	}
	decode(a.Body, "provisioningState", &resource)
	state, _ := resource.Properties.ProvisioningState.(string)
	return state != ""
}

// decode reads a document that may have a member of some name; one without is not read.
func decode(document []byte, name string, into any) {
	if bytes.Contains(document, []byte(name)) {
		_ = json.Unmarshal(expr.NewDoc(document).Bytes(), into) // what is no JSON has no members
	}
}

// A reference says which URL a document names: by the value of an expression, or by a URL with
// expressions in braces; or it is a word that has a meaning of its own.
type reference struct {
	word   string
	source string
	texts  []string // of a URL, around the values; nil if a value is the whole URL
	values []*expr.Expr
}

// parseReference parses a reference, which may be one of some words. The error repeats no part
// of a URL but an expression, since a URL can hold secrets.
func parseReference(s string, words []string, opts ...expr.Option) (reference, error) {
	switch {
	case slices.Contains(words, s):
		return reference{word: s}, nil
	case isURL(s), strings.HasPrefix(s, "{"): // a URL that begins with a value of the response
		return parseURLReference(s, opts...)
	}
	// The field of such a name would be missing, which shows only after the start was sent.
	mistakes := []string{"none", "no", "off", "never", "false", "auto", "yes", "on", "always", "true", "location"}
	if slices.Contains(mistakes, strings.ToLower(s)) {
		return reference{}, fmt.Errorf("%s names no URL: write none or auto, $header.%[1]s for the header, .%[1]s for the field", s)
	}
	x, err := expr.CompileValue(s, opts...)
	if e, ok := errors.AsType[*expr.Error](err); ok && (strings.HasPrefix(s, `"`) || strings.HasSuffix(e.Message, "does not calculate")) {
		e.Hint = inBraces
	}
	if err == nil && x.Reads("ENV") {
		err = errShown
	}
	return reference{source: s, values: []*expr.Expr{x}}, err
}

// inBraces is the hint for a URL that is built as in jq.
const inBraces = "values of a URL stand in braces, as in /jobs/{.id} or {$header.Location}status"

// errShown refuses a secret in a URL.
var errShown = errors.New("a variable of the environment can stand only in the query of a URL in braces, " +
	"as in /jobs/{.id}?key={$ENV.KEY}: the rest of a URL is shown")

func parseURLReference(s string, opts ...expr.Option) (reference, error) {
	if strings.Contains(s, `\(`) {
		return reference{}, errors.New(inBraces)
	}
	r := reference{source: s}
	for {
		text, rest, found := strings.Cut(s, "{")
		r.texts = append(r.texts, text)
		if !found {
			break
		}
		x, after, err := cutExpression(rest, opts...)
		if err != nil {
			return reference{}, err
		}
		r.values, s = append(r.values, x), after
		if x.Reads("ENV") && !strings.Contains(r.sample(), "?") {
			return reference{}, errShown
		}
	}
	if sample := r.sample(); r.texts[0] != "" && sample[0] != '/' && sample[0] != '?' {
		if _, err := ParseURL(sample); err != nil {
			return reference{}, err
		}
	}
	return r, nil
}

// cutExpression cuts text behind an expression, which ends with the first brace that makes
// it one.
func cutExpression(s string, opts ...expr.Option) (x *expr.Expr, after string, err error) {
	for end, c := range s {
		if c != '}' {
			continue
		}
		x, malformed := expr.CompileValue(strings.TrimSpace(s[:end]), opts...)
		if malformed == nil {
			return x, s[end+1:], nil
		}
		err = cmp.Or(err, malformed)
	}
	if err == nil {
		return nil, "", errors.New("a { of the URL is not closed")
	}
	return nil, "", fmt.Errorf("in braces: %w", err)
}

// isURL reports whether text is a URL, or begins with the path or the query of one.
func isURL(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

// explicit reports whether the user said what to take the URL from.
func (r reference) explicit() bool { return r.source != "" }

// varies reports whether the URL depends on the answer.
func (r reference) varies() bool {
	return slices.ContainsFunc(r.values, func(x *expr.Expr) bool { return x.Reads() })
}

// namesEnviron reports whether the URL is built from a variable of the environment.
func (r reference) namesEnviron() bool {
	return slices.ContainsFunc(r.values, func(x *expr.Expr) bool { return x.Reads("ENV") })
}

// sample returns the URL with a 0 in place of each expression.
func (r reference) sample() string { return strings.Join(r.texts, "0") }

// A reader returns the value of an expression for use in a URL. Its error says why there
// is none.
type reader func(x *expr.Expr, env *expr.Env) (string, error)

// resolve returns the location that a document from another one names.
func (r reference) resolve(c *client, from location, env *expr.Env, read reader) (location, error) {
	text, err := r.fill(from.url, env, read)
	if err != nil {
		return location{}, err
	}
	to, err := c.refer(from, text)
	switch {
	case err == nil:
		return to, nil
	case r.texts != nil: // which can hold secrets
		return location{}, fmt.Errorf("the URL that it builds %w", err)
	}
	return location{}, fmt.Errorf("the value of %s %w", r.source, err)
}

// fill puts values of a document into the URL, escaped for their place, so that none can
// begin another part of it. from is the URL that parameters alone are for.
func (r reference) fill(from *url.URL, env *expr.Env, read reader) (string, error) {
	if r.texts == nil {
		return read(r.values[0], env)
	}
	built := r.texts[0]
	for i, x := range r.values {
		value, err := read(x, env)
		if err != nil {
			return "", err
		}
		built += escape(value, built) + r.texts[i+1]
	}
	switch {
	case strings.HasPrefix(built, "?"):
		return "?" + withParameters(from.RawQuery, built[1:]), nil
	case hasDots(built) && !hasDots(r.sample()):
		return "", errors.New("a value would change another part of the path")
	}
	return built, nil
}

// escape escapes text for the part of a URL that follows its beginning. Slashes in the path
// stay, for names such as operations/7, except for leading ones, which could begin a host.
func escape(text, before string) string {
	_, rest, absolute := strings.Cut(before, "://")
	switch {
	case before == "": // the beginning of the URL
		return text
	case strings.ContainsAny(before, "?#"):
		return url.QueryEscape(text)
	case absolute && !strings.Contains(rest, "/"):
		return url.PathEscape(text) // an escape in a host makes it malformed
	}
	return strings.ReplaceAll(url.PathEscape(strings.TrimLeft(text, "/")), "%2F", "/")
}

// hasDots reports whether there are segments in a URL's path that are removed when it is
// resolved, with the ones before them (RFC 3986 section 5.2.4).
func hasDots(u string) bool {
	path := u[:strings.IndexAny(u+"?", "?#")] + "/"
	return strings.Contains(path, "/./") || strings.Contains(path, "/../")
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

// text reads a string that is not empty, or a number as it is written.
func text(x *expr.Expr, env *expr.Env) (string, error) { return textOf(x, x.Eval(env).Value()) }

func textOf(x *expr.Expr, got expr.Value) (string, error) {
	switch got.Type {
	case "string", "number":
		if got.Text() == "" {
			return "", fmt.Errorf("%s is empty", x)
		}
		return got.Text(), nil
	case "unknown", "missing":
		return "", errors.New(got.Reason)
	}
	return "", fmt.Errorf("%s is neither text nor a number", x)
}
