package request

import (
	"bytes"
	"context"
	"errors"
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

// errNotNamed means that no place of a result is named.
var errNotNamed = errors.New("is not named")

// Result looks for the result of an operation whose status document said that it is done,
// if that is another document (Azure's API guidelines, "Long-running operations"): at
// resourceLocation; at the Location of the answer to the POST that started it; at the URL
// itself after PUT and PATCH.
//
// The first look is part of the last attempt, and waits for its Pace.
func (s *Session) Result(last status.Observation) (look func(context.Context) status.Observation, what string) {
	if last.Following.Monitor != status.MonitorAzure || s.monitor != status.MonitorAzure {
		return nil, ""
	}
	at, err := s.resultPlace(last)
	if errors.Is(err, errNotNamed) || at.same(s.at) {
		return nil, ""
	}
	what = "follow its resourceLocation"
	if at.url != nil {
		what = "get " + urlName(at.url)
	}
	looked := false
	return func(ctx context.Context) status.Observation {
		got := failed(nil, call{Attempt: s.attempt, method: http.MethodGet, at: at})
		if err != nil {
			got.Failure = fail(status.FailureHopeless, "it "+err.Error(), err)
		} else if !looked && s.attempt.wait(ctx, at) != nil {
			got.Failure = cutOff(ctx, true, 0)
		} else {
			looked = true
			got = s.client.do(ctx, got.asked)
		}
		o := got.Observation
		if got.Failure == nil && len(got.asked.redirects) > 0 {
			o.Doubt = s.doubt(got)
		}
		o.Following.Monitor = status.MonitorResult
		return o
	}, what
}

// resultPlace returns where the result is. A place that is named but unusable is an
// error: the status document is not the result.
func (s *Session) resultPlace(last status.Observation) (place, error) {
	switch reference := resourceLocation(last.Body); {
	case !reference.Exists() || reference.Kind == expr.KindNull || reference.Raw == `""`:
	case reference.Kind != expr.KindString:
		return place{}, errors.New("is no text")
	default:
		return s.client.refer(s.at, reference.Text())
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		if s.locationErr == nil || errors.Is(s.locationErr, ErrUntrusted) {
			return s.location, s.locationErr
		}
	}
	return place{}, errNotNamed
}

// resourceLocation returns where Azure's status document says that the result is; the
// value may be missing or empty.
func resourceLocation(body []byte) expr.Value {
	if !bytes.Contains(body, []byte("resourceLocation")) {
		return expr.Value{}
	}
	return mustCompile(".resourceLocation").Eval(&expr.Env{Doc: expr.NewDoc(body)}).Value()
}
