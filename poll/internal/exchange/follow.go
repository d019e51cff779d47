package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pollcli/poll/internal/template"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A follow says where to look after the first answer. The zero value is "auto".
type follow struct {
	source   string
	none     bool
	value    *expr.Expr
	template *urlTemplate
}

// parseFollow parses poll.HTTP's Follow.
func parseFollow(s string, opts ...expr.Option) (follow, error) {
	switch {
	case s == "" || s == "auto":
		return follow{}, nil
	case s == "none":
		return follow{none: true}, nil
	case instead(s) != "":
		return follow{}, fmt.Errorf("%s is no place to look at: write %s", s, instead(s))
	case isTemplate(s):
		t, err := parseTemplate(s, opts...)
		return follow{source: s, template: t}, err
	}
	x, err := expr.CompileValue(s, opts...)
	switch {
	case err != nil:
		return follow{}, hintTemplate(s, err)
	case x.NamesEnviron():
		return follow{}, errShown
	}
	if x.Uses() == (expr.Uses{}) {
		return follow{}, fmt.Errorf("%s is the same for every answer, and no place to look at", s)
	}
	return follow{source: s, value: x}, nil
}

// errShown refuses a secret in a URL.
const errShown plainError = "a variable of the environment can stand only in the query of a URL in braces, " +
	"as in /jobs/{.id}?key={$ENV.KEY}: the rest of a URL is shown"

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

// A urlTemplate is a URL with expressions in braces.
type urlTemplate struct {
	*template.URL
	values []*expr.Expr
}

func isTemplate(s string) bool {
	lower := strings.ToLower(s)
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(s, "/")
}

func parseTemplate(s string, opts ...expr.Option) (*urlTemplate, error) {
	u, err := template.ParseURL(s)
	if err != nil {
		return nil, err
	}
	t := &urlTemplate{URL: u}
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

// expand puts the values of the answer's document into the template.
func (t *urlTemplate) expand(ctx context.Context, a *answer) (string, error) {
	return t.Fill(true, func(hole int) (string, error) { return text(ctx, t.values[hole], a) })
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
