package request

import (
	"context"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
)

// start sends the request that starts the operation. It is due again only where it never
// left, or was refused for load or for its credentials.
func (s *Session) start(ctx context.Context) status.Observation {
	c := s.client
	got := s.pages.do(ctx, call{Attempt: s.attempt, method: c.Method, at: c.given, body: c.Body, start: true})
	for _, r := range got.asked.redirects {
		if r.toGET { // so the answer is that of a look
			s.startDue, s.following = false, true
			s.at, s.monitor = r.to, status.MonitorCreated
			return s.observe(ctx, got)
		}
	}
	o := got.Observation
	o.Following.Start = true
	if got.unsent || o.RefusedForLoad() || o.Renewed {
		o.Following.Due = true
		return o
	}
	s.startDue = false
	switch f := got.Failure; {
	case f != nil && f.Kind == status.FailureTransient:
		words := "the operation may have started, the answer was lost: " + f.Reason
		o.Failure = fail(status.FailureMayHaveStarted, words, f.Err)
	case f != nil && f.Kind == status.FailureStopped:
		o.Failure = fail(status.FailureStopped, f.Reason+"; the operation may have started", f.Err)
	case f == nil:
		s.started(ctx, &o, got)
	}
	return o
}

// started notes where the answer to a start says to look.
func (s *Session) started(ctx context.Context, o *status.Observation, got *answer) {
	c := s.client
	switch {
	case c.FollowEach && o.Good():
		s.listStarted(ctx, o, got)
	case s.follow.self && (o.Good() || got.code == http.StatusSeeOther):
		o.Following.Next = urlName(s.at.url)
	case o.Good(), isAmbiguous(got.code, c.Method) && s.follow.explicit() && !c.FollowEach:
		s.location, s.locationErr = c.refer(got.asked.at, got.Header.Get("Location"))
		s.findLink(ctx, o, got)
	case isAmbiguous(got.code, c.Method):
		remarkRedirect(o, got)
	case mayHaveStarted(got.code):
		o.Failure = fail(status.FailureMayHaveStarted, fmt.Sprintf("the operation may have started: "+
			"the request that starts it was answered with HTTP %d %s", got.code, http.StatusText(got.code)), nil)
	}
}

// mayHaveStarted reports whether an answer that is not good leaves open whether the
// operation was started.
func mayHaveStarted(code int) bool {
	switch code {
	case http.StatusSwitchingProtocols, http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return code >= 500
}

// remarkRedirect says where a redirect leads that was not followed. Only the user can know
// what it means: it could as well be a login page.
func remarkRedirect(o *status.Observation, got *answer) {
	if to, err := got.asked.at.resolve(got.Header.Get("Location"), true); err == nil {
		o.Remarks = append(o.Remarks, fmt.Sprintf("it names %s: send the request there if that is its new address; "+
			"if it is the result or its status, look there", urlName(to.url)))
	}
}
