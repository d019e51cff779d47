package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Follow says where to look after the first answer. The zero value is "auto";
// [ParseFollow] makes the others.
type Follow struct {
	source   string
	none     bool
	value    *value
	template *urlTemplate
}

// ParseFollow reads where to look, as poll.ParseFollow says.
func ParseFollow(s string) (Follow, error) {
	f := Follow{source: s}
	switch {
	case s == "" || s == "auto":
		f.source = ""
	case s == "none":
		f.none = true
	case noPlace(s) != "":
		return Follow{}, fmt.Errorf("%s is no place to look at: %s", s, noPlace(s))
	case isTemplate(s):
		t, err := parseTemplate(s)
		if err != nil {
			return Follow{}, err
		}
		f.template = t
	default:
		v, err := compileValue(s)
		if err != nil {
			return Follow{}, hinted(s, err)
		}
		if v.Uses() == (expr.Uses{}) {
			return Follow{}, fmt.Errorf("%s is the same for every answer, and no place to look at", s)
		}
		f.value = &v
	}
	return f, nil
}

// String returns what f was parsed from.
func (f Follow) String() string {
	if f.source == "" {
		return "auto"
	}
	return f.source
}

// explicit reports whether the user said what to take the URL from.
func (f Follow) explicit() bool { return f.value != nil || f.template != nil }

// isSafe reports whether a method only looks (RFC 9110 section 9.2.1).
func isSafe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}

// A lead is a place that an answer names.
type lead struct {
	to      place
	monitor status.Monitor
	source  string // what named it, in words
}

// find returns where the answer to a request sent by method leads. Without a
// lead, why says what is wrong with what might have been one, if anything.
func (f Follow) find(ctx context.Context, method string, a *answer, trustAll bool) (l lead, why error) {
	if f.explicit() {
		return f.build(ctx, a, trustAll)
	}
	for _, h := range leadHeaders {
		if reference := a.header.Get(h.name); reference != "" && h.leads(a.code) {
			to, err := a.from.refer(reference, trustAll)
			if err == nil {
				return lead{to, h.monitor, h.name}, why
			}
			why = fmt.Errorf("%s ignored: it %w", h.name, err)
		}
	}
	if (method == http.MethodPut || method == http.MethodPatch) && hasProvisioningState(ctx, a) {
		return lead{a.from, status.MonitorAzure, "its provisioningState"}, why
	}
	return lead{}, why
}

// leadHeaders name what to follow, the first that is there: Azure's Resource
// Manager RPC (asynchronous operations), Azure's API guidelines, RFC 9110
// sections 10.2.2 and 15.3.3.
var leadHeaders = [...]struct {
	name    string
	monitor status.Monitor
	leads   func(code int) bool
}{
	{"Azure-AsyncOperation", status.MonitorAzure, isGood},
	{"Operation-Location", status.MonitorAzure, isGood},
	{"Location", status.MonitorLocation, isCreatedOrAccepted},
}

func isGood(code int) bool { return code >= 200 && code <= 299 }

func isCreatedOrAccepted(code int) bool {
	return code == http.StatusCreated || code == http.StatusAccepted
}

// renewed returns where a monitor says that it is to be found from now on: any
// of its answers can name another URL than the one before.
func renewed(monitor status.Monitor, a *answer, trustAll bool) (lead, bool) {
	for _, h := range leadHeaders {
		reference := a.header.Get(h.name)
		if h.monitor != monitor || reference == "" || !h.leads(a.code) {
			continue
		}
		if to, err := a.from.refer(reference, trustAll); err == nil {
			return lead{to, monitor, h.name}, true
		}
	}
	return lead{}, false
}

// build takes the URL out of the answer's document.
func (f Follow) build(ctx context.Context, a *answer, trustAll bool) (lead, error) {
	var reference, problem string
	if f.template != nil {
		reference, problem = f.template.expand(ctx, a)
	} else {
		reference, problem = f.value.text(ctx, a)
	}
	if problem != "" {
		return lead{}, errors.New("nothing to follow: " + problem)
	}
	to, err := a.from.refer(reference, trustAll)
	if err != nil {
		return lead{}, fmt.Errorf("nothing to follow: %s %w", f.subject(), err)
	}
	return lead{to, status.MonitorBuilt, "its document"}, nil
}

// subject is what the URL is taken from, in words. A template can hold secrets
// in its query.
func (f Follow) subject() string {
	if f.template != nil {
		return "the URL that it builds"
	}
	return "the value of " + f.source
}

// hasProvisioningState reports whether an answer is an Azure resource, or a
// status in the form of one.
func hasProvisioningState(ctx context.Context, a *answer) bool {
	return field(ctx, a, "provisioningState", ".properties.provisioningState") != ""
}

// resourceLocation is where Azure's status document says that the result is, a
// missing or empty value if it does not.
func resourceLocation(a *answer) expr.Value {
	if !bytes.Contains(a.body, []byte("resourceLocation")) {
		return expr.Value{}
	}
	return mustValue(".resourceLocation").Eval(&expr.Env{Doc: expr.NewDoc(a.body)}).Value()
}

// field returns the text at a path of the answer's document, "" for none. An
// answer that does not hold the path's last name is not parsed.
func field(ctx context.Context, a *answer, name, path string) string {
	if !bytes.Contains(a.body, []byte(name)) {
		return ""
	}
	text, _ := mustValue(path).text(ctx, a)
	return text
}
