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

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status/expr"
)

// A follow selects the URL of the attempts after the first response: a reference, or "", "auto", "none" or "self".
type follow struct{ reference }

// parseFollow parses the Follow of poll.HTTP. It returns an error for an expression that reads no part of the response.
func parseFollow(s string, opts ...expr.Option) (follow, error) {
	r, err := parseReference(s, []string{"", "auto", "none", "self"}, opts...)
	if err == nil && r.explicit() && r.texts == nil && !r.varies() {
		err = fmt.Errorf("%s is the same for every answer, and names no URL", s)
	}
	return follow{r}, err
}

// A link is a location that a response names. The zero value means no link.
type link struct {
	to      location
	monitor meaning.Monitor
	source  string // header field or document that named the location, for remarks
}

// find returns the link in a. Without a usable link, the error is the reason why a header field or the document could
// not be used, or nil if a names no URL. With a link, the error can be about another header field.
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

// headerLink returns the link in the first usable header field of a: Azure-AsyncOperation (Azure's Resource Manager RPC,
// asynchronous operations), Operation-Location (Azure's API guidelines), Location (RFC 9110 sections 10.2.2 and 15.3.3) or
// Content-Location (FHIR's Bulk Data export). kind is the kind of the URL that returned a. Such a URL can be replaced
// only by the header field that named the URL. With MonitorGiven, every header field counts. Content-Location counts
// only in a 202 to the start request: in other responses it identifies the response itself (RFC 9110 section 8.7).
// problem is the reason why a header field was ignored, or nil.
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
	return meaning.Reported(&a.Observation).State.Stage == meaning.Open
}

// hasProvisioningState reports whether a is an Azure resource, or has the form of an Azure resource: its document has a
// properties.provisioningState that is not empty.
func hasProvisioningState(a *answer) bool {
	var resource struct {
		Properties struct{ ProvisioningState any }
	}
	decode(a.Body, "provisioningState", &resource)
	state, _ := resource.Properties.ProvisioningState.(string)
	return state != ""
}

// decode decodes document into into. It does nothing, and so saves time, if document does not contain name.
func decode(document []byte, name string, into any) {
	if bytes.Contains(document, []byte(name)) {
		_ = json.Unmarshal(expr.NewDoc(document).Bytes(), into) // a document that is not JSON has no members
	}
}

// A reference is a rule for building a URL from a response: an expression whose value is the URL, or a URL with
// expressions in braces. A reference can also be a keyword, such as "auto".
type reference struct {
	word   string       // keyword; "" for an expression or a URL
	source string       // expression or URL as the user wrote it; "" for a keyword
	texts  []string     // parts of the URL around the values; nil if the only value is the whole URL
	values []*expr.Expr // expressions
}

// parseReference parses a reference. words are the allowed keywords. The error repeats no part of a URL except an
// expression, because a URL can hold secrets.
func parseReference(s string, words []string, opts ...expr.Option) (reference, error) {
	switch {
	case slices.Contains(words, s):
		return reference{word: s}, nil
	case isURL(s), strings.HasPrefix(s, "{"): // "{": a URL that starts with a value of the response
		return parseURLReference(s, opts...)
	}
	// A response hardly has a member with such a name, and poll would report the missing member only after the start
	// request.
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

// inBraces is the hint for a URL that is built with the string syntax of jq.
const inBraces = "values of a URL stand in braces, as in /jobs/{.id} or {$header.Location}status"

// errShown is the error for a variable of the environment, which may be a secret, in a part of a URL that poll shows.
var errShown = errors.New("a variable of the environment can stand only in the query of a URL in braces, " +
	"as in /jobs/{.id}?key={$ENV.KEY}: the rest of a URL is shown")

// parseURLReference parses a URL with expressions in braces.
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

// cutExpression parses the expression at the start of s, up to the first closing brace that ends a valid expression. It
// returns the expression, and the rest of s after the brace.
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

// isURL reports whether s starts like an HTTP URL, an absolute path or a query.
func isURL(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

// explicit reports whether the reference is an expression or a URL, and not a keyword.
func (r reference) explicit() bool { return r.source != "" }

// varies reports whether the URL depends on the response.
func (r reference) varies() bool {
	return slices.ContainsFunc(r.values, func(x *expr.Expr) bool { return x.Reads() })
}

// namesEnviron reports whether the URL is built from a variable of the environment.
func (r reference) namesEnviron() bool {
	return slices.ContainsFunc(r.values, func(x *expr.Expr) bool { return x.Reads("ENV") })
}

// sample returns the URL with a 0 in place of each expression.
func (r reference) sample() string { return strings.Join(r.texts, "0") }

// A reader returns the value of x for a URL, or an error with the reason why there is no such value.
type reader func(x *expr.Expr, env *expr.Env) (string, error)

// resolve returns the location that the reference yields for a response from a location. env holds the response.
func (r reference) resolve(c *client, from location, env *expr.Env, read reader) (location, error) {
	text, err := r.fill(from.url, env, read)
	if err != nil {
		return location{}, err
	}
	to, err := c.refer(from, text)
	switch {
	case err == nil:
		return to, nil
	case r.texts != nil: // the URL can hold secrets
		return location{}, fmt.Errorf("the URL that it builds %w", err)
	}
	return location{}, fmt.Errorf("the value of %s %w", r.source, err)
}

// fill returns the URL with the values of the expressions. Each value is escaped for its position, so that a value cannot
// start another part of the URL. If the URL is only a query, its parameters replace parameters of from.
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

// escape escapes text for the position in a URL after the string before. In a path, slashes are kept for names such as
// operations/7. Leading slashes are removed, because they could start a host.
func escape(text, before string) string {
	_, rest, absolute := strings.Cut(before, "://")
	switch {
	case before == "": // text is the start of the URL
		return text
	case strings.ContainsAny(before, "?#"):
		return url.QueryEscape(text)
	case absolute && !strings.Contains(rest, "/"):
		return url.PathEscape(text) // text is in the host: an escape makes the host malformed
	}
	return strings.ReplaceAll(url.PathEscape(strings.TrimLeft(text, "/")), "%2F", "/")
}

// hasDots reports whether the path of u has a segment "." or "..". Resolving u would remove such a segment, and ".." also
// removes the segment in front (RFC 3986 section 5.2.4).
func hasDots(u string) bool {
	path := u[:strings.IndexAny(u+"?", "?#")] + "/"
	return strings.Contains(path, "/./") || strings.Contains(path, "/../")
}

// withParameters returns query with the parameters of some. A parameter of some replaces all parameters of query with the
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

// text is a reader for a string that is not empty, or a number. It returns a number as the response has it.
func text(x *expr.Expr, env *expr.Env) (string, error) { return TextOf(x, x.Eval(env).Value()) }

// TextOf returns got, the value of x, if it is a string that is not empty, or a number. Otherwise the error is the reason.
func TextOf(x *expr.Expr, got expr.Value) (string, error) {
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
