// Package exchange makes HTTP requests, follows redirects and the URLs that answers name,
// and says in words what went wrong. It judges nothing.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Session is a request in one run: it keeps the URL being followed and the validators
// of the last answer.
type Session struct {
	client *client
	follow follow
	pager  pager
	pace   Pace   // of further pages
	paged  bool   // it is known whether the first page of a list names the next one
	cache  *cache // nil if requests are not to be conditional

	// startDue is true while the request that starts the operation is to be sent; sent, once
	// one that changes something and starts nothing has been.
	startDue, sent bool
	// location is the Location of the answer to it, locationErr what is wrong with that.
	location    place
	locationErr error

	at        place // where the next attempt looks
	following bool  // at was named by an answer
	monitor   status.Monitor
	statement string // the last one in the answers from there, "" for none

	// listed is the last good answer if its elements say where to look, nil before there is
	// one.
	listed *listing
	// arrival is a remark on how the session came to at, for its first answer; "" for none.
	arrival string
}

// NewSession returns the session of a request, or an error if it cannot be sent.
func NewSession(r Request) (*Session, error) {
	c, err := newClient(r)
	if err != nil {
		return nil, err
	}
	f, err := parseFollow(r.Follow, expr.WithEnviron(r.LookupEnv))
	if err != nil {
		return nil, err
	}
	if r.FollowEach && (!f.explicit() || !f.varies()) {
		return nil, errors.New("what is followed for each element has to be an expression, " +
			"or a URL with expressions in braces")
	}
	p, err := parsePager(r.Next, expr.WithEnviron(r.LookupEnv))
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, follow: f, pager: p, at: c.given, locationErr: errNotNamed, cache: c.newCache()}
	if p.reads(func(u expr.Uses) bool { return u.Any(expr.UsesHeader) }) {
		s.cache = nil
	}
	s.startDue = s.starts()
	s.pace = func(_ context.Context, _ string, ask func() status.Observation) { ask() }
	return s, nil
}

// starts reports whether the request starts an operation: it changes something, and the user
// does not say otherwise.
func (s *Session) starts() bool { return s.changes() && !s.follow.none }

// changes reports whether the method of the request is not safe (RFC 9110 section 9.2.1).
func (s *Session) changes() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, s.client.Method)
}

// StartDue reports whether the next attempt sends the request that starts the
// operation.
func (s *Session) StartDue() bool { return s.startDue }

// Place returns the scheme, host and port that the next attempt asks first.
func (s *Session) Place() string {
	if s.startDue {
		return s.client.given.origin()
	}
	return s.at.origin()
}

// Release gives back what the last answer holds of the Bodies.
func (s *Session) Release() { s.client.hold.Release() }

// look makes one attempt with the header fields as they are.
func (s *Session) look(ctx context.Context, last bool) status.Observation {
	s.Release()
	switch {
	case s.startDue:
		return s.start(ctx)
	case !s.following && s.starts() && !s.follow.self:
		failure := fail(status.FailureMayHaveStarted,
			"the request that starts the operation is sent once, and its answer names nothing to follow", nil)
		failure.Advice.Code = status.AdviceFollow
		return status.Observation{Kind: status.KindHTTP, Failure: failure, Following: status.Following{Start: true}}
	}
	next := call{method: http.MethodGet, at: s.at}
	if !s.following && !s.starts() {
		next.method, next.body = s.client.Method, s.client.Body
	}
	if s.cache != nil && next.method == http.MethodGet && next.body == nil {
		s.cache.begin(last, s.pager.links)
		next.cache = s.cache
	}
	got, remarks := s.client.ask(ctx, next)
	o := s.observe(ctx, got)
	s.sent = s.sent || !got.unsent && !o.RefusedForLoad()
	o.Following.Due = s.follow.none && s.changes() && !s.sent
	switch {
	case got.NotModified:
		o.Remarks = remarks
	case got.Failure == nil && isAmbiguous(got.code, next.method):
		remarkRedirect(&o, got, "it names %s: send the request there if that is its new address")
	}
	s.readList(ctx, &o, got, next)
	return o
}

// start sends the request that starts the operation. It is due again only where
// the server did nothing with it.
func (s *Session) start(ctx context.Context) status.Observation {
	c := s.client
	got := c.do(ctx, call{method: c.Method, at: c.given, body: c.Body, start: true})
	for _, r := range got.redirects {
		if r.toGET { // so the answer is that of a look
			s.startDue, s.following = false, true
			s.at, s.monitor = r.to, status.MonitorCreated
			o := s.observe(ctx, got)
			s.readList(ctx, &o, got, call{method: http.MethodGet, at: s.at})
			return o
		}
	}
	o := observe(got)
	o.Following.Start = true
	if got.unsent || o.RefusedForLoad() {
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
	case f != nil:
	case c.FollowEach && o.Good():
		s.listStarted(ctx, &o, got)
	case s.follow.self && (o.Good() || got.code == http.StatusSeeOther):
		o.Following.Next = urlName(s.at.url)
	case o.Good(), isAmbiguous(got.code, c.Method) && s.follow.explicit() && !c.FollowEach:
		s.location, s.locationErr = got.from.refer(got.Header.Get("Location"), c.LocationTrusted)
		s.findLink(ctx, &o, got)
	case isAmbiguous(got.code, c.Method):
		// Only the user can know what it means: it could as well be a login page.
		remarkRedirect(&o, got, "it names %s: send the start there if that is its new address; "+
			"if it is the result or its status, look there")
	case mayHaveStarted(got.code):
		o.Failure = fail(status.FailureMayHaveStarted, fmt.Sprintf("the operation may have started: "+
			"the request that starts it was answered with HTTP %d %s", got.code, http.StatusText(got.code)), nil)
	}
	return o
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

// remarkRedirect says where a redirect that was not followed leads.
func remarkRedirect(o *status.Observation, got *answer, words string) {
	to, err := got.from.refer(got.Header.Get("Location"), true)
	if err != nil {
		return
	}
	if onlyMoved(got.from.url, to.url) {
		words = "nothing was started: the request belongs to %s"
	}
	o.Remarks = append(o.Remarks, fmt.Sprintf(words, urlName(to.url)))
}

// findLink follows the link in an answer, if there is one.
func (s *Session) findLink(ctx context.Context, o *status.Observation, got *answer) {
	l, problem := s.follow.find(ctx, s.client.Method, got, s.client.LocationTrusted)
	if l.to.url != nil {
		if problem != nil {
			o.Remarks = append(o.Remarks, problem.Error())
		}
		s.goTo(l, o, got)
	} else if problem != nil {
		o.Following.Missing, o.Following.Untrusted = problem.Error(), errors.Is(problem, ErrUntrusted)
	}
}

// goTo makes the next attempts look where a link points, and says so.
func (s *Session) goTo(l link, o *status.Observation, from *answer) {
	s.at, s.monitor, s.following = l.to, l.monitor, true
	o.Following.Next = urlName(l.to.url)
	remark := fmt.Sprintf("following %s, as %s says", o.Following.Next, l.source) + withheld(from.from, l.to)
	o.Remarks = append(o.Remarks, remark)
}

// withheld says that credentials are not sent on, "" if they are or if there are none.
func withheld(from, to place) string {
	if !from.guarded || to.trusted {
		return ""
	}
	return "; that is another origin, credentials are not sent there"
}

// observe makes the observation of a call.
func observe(got *answer) status.Observation {
	o := got.Observation
	o.Remarks = slices.Clip(o.Remarks)
	if n := len(got.redirects); n > 0 {
		first, last := got.redirects[0].from.url, got.redirects[n-1].to.url
		o.Elsewhere = !sameOrigin(first, last) && !upgraded(first, last)
		if o.Redirect = urlName(last); !o.Elsewhere {
			o.Redirect = strings.TrimPrefix(o.Redirect, last.Scheme+"://"+last.Host)
		}
	}
	if o.Failure != nil {
		return o
	}
	for _, r := range got.redirects {
		o.Remarks = append(o.Remarks, fmt.Sprintf("redirected by %d to %s", r.code, urlName(r.to.url))+withheld(r.from, r.to))
	}
	return o
}

// observe makes the observation of a look, and notes where its answer says to look from
// now on.
func (s *Session) observe(ctx context.Context, got *answer) status.Observation {
	o := observe(got)
	o.Following.Monitor = s.monitor
	if got.Failure != nil {
		return o
	}
	o.Following.Earlier = s.statement
	if s.arrival != "" {
		o.Remarks, s.arrival = append(o.Remarks, s.arrival), ""
	}
	if !s.following {
		if s.follow.explicit() && o.Good() && !s.client.FollowEach {
			s.findLink(ctx, &o, got)
			o.Following.Start = o.Following.Next != ""
			if o.Following.Missing != "" {
				o.Following.Missing = "nothing to follow: " + o.Following.Missing
			}
		}
		return o
	}
	// The body of a 202 is not the document that was asked for.
	if statement := o.Statement(); statement != "" && got.code != http.StatusAccepted {
		s.statement = statement
	}
	o.Doubt = s.doubt(got)
	if isElsewhere(got) {
		o.Following.Monitor = status.MonitorResult
		return o
	}
	// Behind a Location, too, a document with a provisioningState is a status
	// document, whatever its code.
	if (s.monitor == status.MonitorLocation || s.monitor == status.MonitorCreated) && isGood(got.code) && hasProvisioningState(ctx, got) {
		o.Following.Monitor = status.MonitorAzure
	}
	if l, _ := headerLink(got, s.monitor, s.client.LocationTrusted); l.to.url != nil && !l.to.same(s.at) {
		s.goTo(l, &o, got)
	}
	return o
}

// isElsewhere reports whether a 303 led from a status document to the result. A 303 to
// the request that starts the operation does not count.
func isElsewhere(got *answer) bool {
	return slices.ContainsFunc(got.redirects, func(r redirect) bool { return r.code == http.StatusSeeOther && !r.start })
}

// doubt says why a good answer may not be one: it is an HTML page, perhaps one to log in or of
// a server under maintenance, where none was asked for.
func (s *Session) doubt(got *answer) string {
	if !isGood(got.code) || !isHTML(got) || s.client.wantsHTML() || isElsewhere(got) {
		return ""
	}
	n := len(got.redirects)
	if n == 0 {
		return "the answer is an HTML page"
	}
	return fmt.Sprintf("redirected by %d to %s, an HTML page that may be one to log in", got.redirects[n-1].code, urlName(got.from.url))
}

// isHTML reports whether an answer is an HTML page.
func isHTML(a *answer) bool {
	kind := a.Header.Get("Content-Type")
	if kind == "" {
		kind = http.DetectContentType(a.Body)
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// Result looks for the result of an operation whose status document said that it is done,
// if that is another document (Azure's API guidelines, "Long-running operations"): at
// resourceLocation; at the Location of the answer to the POST that started it; at the URL
// itself after PUT and PATCH.
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
	return func(ctx context.Context) (o status.Observation) {
		var got *answer
		if err != nil {
			got = failed(fail(status.FailureHopeless, "it "+err.Error(), err), nil)
		} else {
			got = s.client.do(ctx, call{method: http.MethodGet, at: at})
		}
		o = observe(got)
		if got.Failure == nil && len(got.redirects) > 0 {
			o.Doubt = s.doubt(got)
		}
		o.Following.Monitor = status.MonitorResult
		return o
	}, what
}

// errNotNamed means that no place of a result is named.
var errNotNamed = errors.New("is not named")

// resultPlace returns where the result is. A place that is named but unusable is an
// error: the status document is not the result.
func (s *Session) resultPlace(last status.Observation) (place, error) {
	switch reference := resourceLocation(last.Body); {
	case !reference.Exists() || reference.Kind == expr.KindNull || reference.Raw == `""`:
	case reference.Kind != expr.KindString:
		return place{}, errors.New("is no text")
	default:
		return s.at.refer(reference.Text(), s.client.LocationTrusted)
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
