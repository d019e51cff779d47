package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A follow says where to look after the first answer. The zero value is "auto".
type follow struct {
	source   string
	none     bool
	value    *expr.Expr
	template *template
}

// parseFollow parses poll.HTTP's Follow.
func parseFollow(s string) (follow, error) {
	switch {
	case s == "" || s == "auto":
		return follow{}, nil
	case s == "none":
		return follow{none: true}, nil
	case instead(s) != "":
		return follow{}, fmt.Errorf("%s is no place to look at: write %s", s, instead(s))
	case isTemplate(s):
		t, err := parseTemplate(s)
		return follow{source: s, template: t}, err
	}
	x, err := expr.CompileValue(s)
	if err != nil {
		return follow{}, hintTemplate(s, err)
	}
	if x.Uses() == (expr.Uses{}) {
		return follow{}, fmt.Errorf("%s is the same for every answer, and no place to look at", s)
	}
	return follow{source: s, value: x}, nil
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
func (f follow) explicit() bool { return f.value != nil || f.template != nil }

// A link is a place that an answer names.
type link struct {
	to      place
	monitor status.Monitor
	source  string // what named it, in words
}

// find returns where the answer to a request sent by method links to. Without a
// link, the error says what is wrong with what might have been one, if anything.
func (f follow) find(ctx context.Context, method string, a *answer, trustAll bool) (link, error) {
	if f.explicit() {
		return f.build(ctx, a, trustAll)
	}
	l, problem := headerLink(a, status.MonitorGiven, trustAll)
	if l.to.url == nil && (method == http.MethodPut || method == http.MethodPatch) && hasProvisioningState(ctx, a) {
		l = link{a.from, status.MonitorAzure, "its provisioningState"}
	}
	return l, problem
}

// linkHeaders name the URL to follow; the first that is present counts: Azure's Resource
// Manager RPC (asynchronous operations), Azure's API guidelines, RFC 9110 sections 10.2.2
// and 15.3.3.
var linkHeaders = [...]struct {
	name    string
	monitor status.Monitor
	links   func(code int) bool
}{
	{"Azure-AsyncOperation", status.MonitorAzure, isGood},
	{"Operation-Location", status.MonitorAzure, isGood},
	{"Location", status.MonitorLocation, isCreatedOrAccepted},
}

func isCreatedOrAccepted(code int) bool {
	return code == http.StatusCreated || code == http.StatusAccepted
}

func isGood(code int) bool { return code >= 200 && code <= 299 }

// headerLink returns what a header of an answer links to. Any answer of a monitor can
// name another URL for it, in the header that named the monitor; with MonitorGiven every
// header counts.
func headerLink(a *answer, kind status.Monitor, trustAll bool) (l link, problem error) {
	for _, h := range linkHeaders {
		reference := a.Header.Get(h.name)
		if reference == "" || !h.links(a.code) || kind != status.MonitorGiven && kind != h.monitor {
			continue
		}
		to, err := a.from.refer(reference, trustAll)
		if err == nil {
			return link{to, h.monitor, h.name}, problem
		}
		problem = fmt.Errorf("%s ignored: it %w", h.name, err)
	}
	return link{}, problem
}

// build takes the URL out of the answer's document.
func (f follow) build(ctx context.Context, a *answer, trustAll bool) (link, error) {
	// A template can hold secrets in its query.
	subject := "the URL that it builds"
	var reference string
	var err error
	if f.template != nil {
		reference, err = f.template.expand(ctx, a)
	} else {
		subject = "the value of " + f.source
		reference, err = text(ctx, f.value, a)
	}
	if err != nil {
		return link{}, err
	}
	to, err := a.from.refer(reference, trustAll)
	if err != nil {
		return link{}, fmt.Errorf("%s %w", subject, err)
	}
	return link{to, status.MonitorBuilt, "its document"}, nil
}

// hasProvisioningState reports whether an answer is an Azure resource, or a status in
// the form of one.
func hasProvisioningState(ctx context.Context, a *answer) bool {
	if !bytes.Contains(a.Body, []byte("provisioningState")) {
		return false
	}
	_, err := text(ctx, mustCompile(".properties.provisioningState"), a)
	return err == nil
}

// resourceLocation returns where Azure's status document says that the result is; the
// value may be missing or empty.
func resourceLocation(body []byte) expr.Value {
	if !bytes.Contains(body, []byte("resourceLocation")) {
		return expr.Value{}
	}
	return mustCompile(".resourceLocation").Eval(&expr.Env{Doc: expr.NewDoc(body)}).Value()
}

// mustCompile compiles an expression of this package.
func mustCompile(source string) *expr.Expr {
	x, err := expr.CompileValue(source)
	if err != nil {
		panic(err)
	}
	return x
}

// text returns the value of x in an answer for use in a URL: a string that is not empty,
// or a number as it is written.
func text(ctx context.Context, x *expr.Expr, a *answer) (string, error) {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable("the answer is longer than what is kept of it")
	}
	switch got := x.Eval(env).Value(); got.Kind {
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

// A template is a URL with expressions in braces.
type template struct {
	texts  []string // one more than values
	values []*expr.Expr
}

func isTemplate(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(s, "/")
}

func parseTemplate(s string) (*template, error) {
	t := &template{}
	for {
		text, rest, found := strings.Cut(s, "{")
		t.texts = append(t.texts, text)
		if !found {
			break
		}
		end := closingBrace(rest)
		if end < 0 {
			return nil, plainError("a { of the URL is not closed")
		}
		x, err := expr.CompileValue(strings.TrimSpace(rest[:end]))
		if err != nil {
			return nil, fmt.Errorf("in braces: %w", err)
		}
		t.values, s = append(t.values, x), rest[end+1:]
	}
	if sample := strings.Join(t.texts, "0"); !strings.HasPrefix(sample, "/") {
		if _, err := ParseURL(sample); err != nil {
			return nil, err
		}
	}
	return t, nil
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

// expand puts the values of the answer's document into the template.
func (t *template) expand(ctx context.Context, a *answer) (string, error) {
	var b strings.Builder
	for i, x := range t.values {
		b.WriteString(t.texts[i])
		value, err := text(ctx, x, a)
		if err != nil {
			return "", err
		}
		value, problem := escape(value, strings.Join(t.texts[:i+1], "0"))
		if problem != "" {
			return "", fmt.Errorf("%s %s", x, problem)
		}
		b.WriteString(value)
	}
	b.WriteString(t.texts[len(t.values)])
	return b.String(), nil
}

// escape escapes text for its place in a URL after prefix, so that it cannot begin
// another part of the URL. In a path its slashes stay, for names such as operations/7,
// except leading ones: after a slash they would begin a host.
func escape(text, prefix string) (escaped, problem string) {
	_, afterScheme, absolute := strings.Cut(prefix, "://")
	switch {
	case strings.ContainsAny(prefix, "?#"):
		return url.QueryEscape(text), ""
	case absolute && !strings.Contains(afterScheme, "/"):
		if strings.ContainsFunc(text, func(r rune) bool {
			return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return "", "is no part of a host name"
		}
		return text, ""
	}
	segments := strings.Split(strings.TrimLeft(text, "/"), "/")
	if slices.Contains(segments, "..") { // it would remove what comes before it (RFC 3986 section 5.2.4)
		return "", "leads out of its place in the path"
	}
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), ""
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
	if !isTemplate(b.String()) {
		return err
	}
	if _, malformed := parseTemplate(b.String()); malformed == nil {
		e.Hint = "write " + b.String()
	}
	return e
}
