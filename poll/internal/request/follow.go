package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A follow says where to look after the first answer: a reference, or "", "auto", "none" or
// "self".
type follow struct{ reference }

// parseFollow parses poll.HTTP's Follow.
func parseFollow(s string, opts ...expr.Option) (follow, error) {
	r, err := parseReference(s, []string{"", "auto", "none", "self"}, opts...)
	if err == nil && r.explicit() && r.texts == nil && !r.varies() {
		err = fmt.Errorf("%s is the same for every answer, and no place to look at", s)
	}
	return follow{r}, err
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
	if l.to.url == nil && (c.Method == http.MethodPut || c.Method == http.MethodPatch) && hasProvisioningState(a) {
		l = link{a.asked.at, status.MonitorAzure, "its provisioningState"}
	}
	return l, problem
}

// headerLink returns what a header of an answer links to; the first that is present counts:
// Azure's Resource Manager RPC (asynchronous operations), Azure's API guidelines, RFC 9110
// sections 10.2.2 and 15.3.3. Any answer of a monitor can name another URL for it, in the
// header that named the monitor; with MonitorGiven every header counts.
func (c *client) headerLink(a *answer, kind status.Monitor) (l link, problem error) {
	if kind == status.MonitorCreated {
		kind = status.MonitorLocation
	}
	for _, l := range []link{
		{source: "Azure-AsyncOperation", monitor: status.MonitorAzure},
		{source: "Operation-Location", monitor: status.MonitorAzure},
		{source: "Location", monitor: status.MonitorLocation},
	} {
		reference := a.Header.Get(l.source)
		if reference == "" || !isGood(a.code) || kind != status.MonitorGiven && kind != l.monitor {
			continue
		}
		if l.monitor == status.MonitorLocation && a.code == http.StatusCreated {
			l.monitor = status.MonitorCreated
		} else if l.monitor == status.MonitorLocation && a.code != http.StatusAccepted {
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
		_ = json.Unmarshal(bytes.TrimPrefix(document, byteOrderMark), into) // what is no JSON has no members
	}
}

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
	if err == nil && (at.url == nil || at.same(s.at)) {
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

// resultPlace returns where the result is, no URL if that is not named. A place that is named
// but unusable is an error: the status document is not the result.
func (s *Session) resultPlace(last status.Observation) (place, error) {
	var operation struct{ ResourceLocation any }
	decode(last.Body, "resourceLocation", &operation)
	switch reference, isText := operation.ResourceLocation.(string); {
	case reference != "":
		return s.client.refer(s.at, reference)
	case !isText && operation.ResourceLocation != nil:
		return place{}, errors.New("is no text")
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		return s.location, s.locationErr
	}
	return place{}, nil
}
