package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status/expr"
)

// parseFollow parses s, the Follow of poll.HTTP. s selects the URL that is polled after the first response: s
// is an expression or a URL with expressions, or one of the keywords "", "auto", "none" and "self". parseFollow
// returns an error if s is an expression that does not depend on the response.
func parseFollow(s string, opts ...expr.Option) (reference, error) {
	r, err := parseReference(s, []string{"", "auto", "none", "self"}, opts...)
	if err == nil && r.explicit() && r.texts == nil && !r.reads() {
		err = fmt.Errorf("%s is the same for every response, and names no URL", s)
	}
	return r, err
}

// A link is a location that a response names as the URL to poll. The zero value means that the response names no URL.
type link struct {
	to      location
	monitor meaning.Monitor
	source  string // for notes: the part of the response that names the location, such as a header field or "its document"
}

// findLink returns the link in the response a to the first request. r is the parsed Follow. If there is no
// usable link, the error is the reason; for a keyword, it is nil if no header field names a URL. If there is a
// link, the error may still report an earlier header field that was ignored.
func (r reference) findLink(ctx context.Context, c *client, a *response) (link, error) {
	if r.explicit() {
		to, err := r.resolve(c, a.call.at, a.env(ctx), readText)
		if err != nil {
			return link{}, err
		}
		return link{to, meaning.MonitorBuilt, "its document"}, nil
	}
	l, problem := c.headerLink(a, meaning.MonitorGiven)
	if l.to.url == nil && (c.Method == http.MethodPut || c.Method == http.MethodPatch) && hasProvisioningState(a) {
		l = link{a.call.at, meaning.MonitorAzure, "its provisioningState"}
	}
	return l, problem
}

// headerLink returns the link in a header field of the response a. It returns the first usable field in this
// order:
//
//   - Azure-AsyncOperation (Azure's Resource Manager RPC, asynchronous operations)
//   - Operation-Location (Azure's API guidelines)
//   - Location (RFC 9110 sections 10.2.2 and 15.3.3), in a 201, a 202, or a response that reports an unfinished operation
//   - Content-Location (FHIR's Bulk Data export), in a 202 to the user's request only: in other responses the field
//     identifies the response itself (RFC 9110 section 8.7)
//
// kind is the kind of the URL that returned the response. If the user gave that URL (MonitorGiven), every field
// counts. Otherwise a field counts only if its own URL would be of the same kind: Azure-AsyncOperation and
// Operation-Location can replace each other, and Location can replace Location. If the URL has any other kind,
// no field counts.
//
// problem explains why an earlier field in the list was ignored; it is nil if no field was ignored. If the
// response is not successful, or has no usable field, the link is zero.
func (c *client) headerLink(a *response, kind meaning.Monitor) (l link, problem error) {
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
		to, err := c.refer(a.call.at, reference)
		if err == nil {
			return link{to, l.monitor, l.source}, problem
		}
		problem = fmt.Errorf("%s ignored: the URL %w", l.source, err)
	}
	return link{}, problem
}

// isOpen reports whether the document of the response a reports an unfinished operation. The Location of such a
// response is followed even if its status is 200, as in ACME, where a request to finalize an order returns a
// Location (RFC 8555 section 7.4).
func isOpen(a *response) bool {
	return meaning.ReportOf(&a.Observation).State.Stage == meaning.Open
}

// hasProvisioningState reports whether the response a looks like an Azure resource: the member
// properties.provisioningState of its document is a string other than "".
func hasProvisioningState(a *response) bool {
	state := member(a.Body, ".properties.provisioningState")
	return state.Type == "string" && state.Text() != ""
}

// member returns the member of document at path, which must be a valid expression.
func member(document []byte, path string) expr.Value {
	x, _ := expr.CompileValue(path)
	return x.Eval(&expr.Env{Doc: expr.NewDoc(document)}).Value()
}

// A reference is a user's rule for building a URL from a response: an expression whose value is the URL, or a URL
// with expressions in braces. Where keywords such as "auto" are allowed, it can also be a keyword.
type reference struct {
	word   string       // keyword; "" for an expression or a URL
	source string       // the expression or URL that the user wrote; "" for a keyword
	texts  []string     // the URL's constant parts before, between and after values; nil if the value of one expression is the whole URL
	values []*expr.Expr // the expressions; values[i] stands between texts[i] and texts[i+1]
}

// parseReference parses s. words are the allowed keywords. A URL can hold secrets, so the error repeats no part of a
// URL except an expression.
func parseReference(s string, words []string, opts ...expr.Option) (reference, error) {
	switch {
	case slices.Contains(words, s):
		return reference{word: s}, nil
	case isURL(s), strings.HasPrefix(s, "{"): // "{": the URL starts with an expression in braces
		return parseURLReference(s, opts...)
	}
	// These names are probably meant as keywords. If they were expressions for members of the response, poll would
	// report the missing member only after it has sent the start request.
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

// inBraces is the hint for users who build a URL with jq's string interpolation.
const inBraces = "write values in a URL in braces, as in /jobs/{.id} or {$header.Location}status"

// errShown is the error for an environment variable outside of a URL's query. A variable may hold a secret, but poll
// shows the other parts of URLs.
var errShown = errors.New("an environment variable is only allowed in the query of a URL in braces, " +
	"as in /jobs/{.id}?key={$ENV.KEY}: poll shows the rest of a URL")

// parseURLReference parses s, a URL with expressions in braces.
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

// cutExpression parses the expression at the start of s, up to a closing brace. Since an expression may contain
// braces itself, it tries each closing brace in turn, until the string before the brace is a valid expression. after
// is the rest of s after that brace.
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

// isURL reports whether s starts like an HTTP URL, an absolute path or a query. It does not check the rest of s.
func isURL(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

// explicit reports whether r is an expression or a URL, rather than a keyword.
func (r reference) explicit() bool { return r.source != "" }

// reads reports whether an expression in r reads one of the variables. If no variables are given, reads reports
// whether the URL that r builds depends on the response.
func (r reference) reads(variables ...string) bool {
	return slices.ContainsFunc(r.values, func(x *expr.Expr) bool { return x.Reads(variables...) })
}

// sample returns the URL of r with "0" in place of each expression, so that its constant parts can be checked.
func (r reference) sample() string { return strings.Join(r.texts, "0") }

// A reader evaluates x for use in a URL. It returns an error if the result is not usable in a URL.
type reader func(x *expr.Expr, env *expr.Env) (string, error)

// resolve returns the location that r builds from a response. from is the location that returned the response,
// env is the environment that contains the response, and read evaluates the expressions.
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
		return location{}, fmt.Errorf("the built URL %w", err)
	}
	return location{}, fmt.Errorf("the value of %s %w", r.source, err)
}

// fill returns the URL of r with the values of its expressions. Each value is escaped for its position, so that
// it cannot change other parts of the URL. If r is only a query, its parameters replace the parameters of from
// with the same names. fill returns an error if read rejects a value, or if the values add a segment "." or
// ".." to the path.
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

// escape escapes text, the next part of a URL that so far consists of before. If before is "", escape returns
// text unchanged. In the path, escape removes leading slashes, because they could turn text into a host. It
// keeps other slashes in the path, because names such as operations/7 contain them. In the host, the query and
// the fragment it escapes all slashes.
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

// hasDots reports whether the path of u has a segment "." or "..". Resolving u removes such a segment, and a ".."
// also removes the preceding segment (RFC 3986 section 5.2.4).
func hasDots(u string) bool {
	path := u[:strings.IndexAny(u+"?", "?#")] + "/"
	return strings.Contains(path, "/./") || strings.Contains(path, "/../")
}

// withParameters appends the parameters in some to query, and returns the result. Both are query strings.
// Parameters of query are left out if some has a parameter with the same name.
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

// readText is a [reader] that accepts numbers and strings other than "". It returns a number exactly as the response
// has it.
func readText(x *expr.Expr, env *expr.Env) (string, error) { return TextOf(x, x.Eval(env).Value()) }

// TextOf returns got, the value of the expression x, as a string for use in a URL. got must be a number or a
// string other than "". For any other value, TextOf returns an error that explains the problem.
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
