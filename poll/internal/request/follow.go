package request

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A follow says where to look after the first answer. The zero value is "auto".
type follow struct {
	none, self bool
	reference
}

// parseFollow parses poll.HTTP's Follow.
func parseFollow(s string, opts ...expr.Option) (follow, error) {
	switch {
	case s == "" || s == "auto":
		return follow{}, nil
	case s == "none":
		return follow{none: true}, nil
	case s == "self":
		return follow{self: true}, nil
	case instead(s) != "":
		return follow{}, fmt.Errorf("%s is no place to look at: write %s", s, instead(s))
	}
	r, err := parseReference(s, opts...)
	if err == nil && r.template == nil && !r.varies() {
		err = fmt.Errorf("%s is the same for every answer, and no place to look at", s)
	}
	return follow{reference: r}, err
}

// A link is a place that an answer names.
type link struct {
	to      place
	monitor status.Monitor
	source  string // what named it, in words
}

// find returns where an answer links to. Without a link, the error says what is wrong with
// what might have been one, if anything.
func (f follow) find(ctx context.Context, c *client, a *answer) (link, error) {
	if f.explicit() {
		to, err := f.resolve(c, a.asked.at, a.env(ctx), text)
		if err != nil {
			return link{}, err
		}
		return link{to, status.MonitorBuilt, "its document"}, nil
	}
	l, problem := c.headerLink(a, status.MonitorGiven)
	if l.to.url == nil && (c.Method == http.MethodPut || c.Method == http.MethodPatch) && hasProvisioningState(ctx, a) {
		l = link{a.asked.at, status.MonitorAzure, "its provisioningState"}
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

// headerLink returns what a header of an answer links to. Any answer of a monitor can
// name another URL for it, in the header that named the monitor; with MonitorGiven every
// header counts.
func (c *client) headerLink(a *answer, kind status.Monitor) (l link, problem error) {
	if kind == status.MonitorCreated {
		kind = status.MonitorLocation
	}
	for _, h := range linkHeaders {
		reference := a.Header.Get(h.name)
		if reference == "" || !h.links(a.code) || kind != status.MonitorGiven && kind != h.monitor {
			continue
		}
		if h.monitor == status.MonitorLocation && a.code == http.StatusCreated {
			h.monitor = status.MonitorCreated
		}
		to, err := c.refer(a.asked.at, reference)
		if err == nil {
			return link{to, h.monitor, h.name}, problem
		}
		problem = fmt.Errorf("%s ignored: it %w", h.name, err)
	}
	return link{}, problem
}

// hasProvisioningState reports whether an answer is an Azure resource, or a status in
// the form of one.
func hasProvisioningState(ctx context.Context, a *answer) bool {
	if !bytes.Contains(a.Body, []byte("provisioningState")) {
		return false
	}
	_, err := text(mustCompile(".properties.provisioningState"), a.env(ctx))
	return err == nil
}

// mustCompile compiles an expression of this package.
func mustCompile(source string) *expr.Expr {
	x, err := expr.CompileValue(source)
	if err != nil {
		panic(err)
	}
	return x
}
