package exchange

import (
	"context"
	"errors"
	"fmt"
	"github.com/pollcli/poll/poll/internal/hint"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Session is a request in one run: it keeps the URL that is followed and the
// validators of the last answer.
type Session struct {
	probe  Request
	client *client
	given  place
	cache  *cache // nil if requests are not to be conditional

	// startDue is true while the request that starts the operation is to be sent.
	startDue bool
	// startLocation is the Location of the answer to it, "" for none; startedAt is
	// where that came from.
	startLocation string
	startedAt     place

	at         place // where the next attempt looks
	following  bool  // at was named by an answer
	monitor    status.Monitor
	statement  string // what the last look that saw a state said of it
	servesHTML bool   // a good answer came from there that was a page, without a redirect
}

// NewSession returns the session of a request that was checked.
func NewSession(h Request) *Session {
	s := &Session{probe: h}
	u, _ := ParseURL(h.URL)
	s.given = place{url: u, trusted: true}
	s.client = newClient(h, s.given)
	s.given.guarded = s.client.hasCredentials()
	s.at = s.given
	s.startDue = !isSafe(h.method()) && !h.Follow.none
	if !h.NoConditional && !asksByItself(s.client.header) {
		s.cache = &cache{}
	}
	return s
}

// StartDue reports whether the next attempt sends the request that starts the
// operation.
func (s *Session) StartDue() bool { return s.startDue }

// Look makes one attempt. The last look asks for the whole answer.
func (s *Session) Look(ctx context.Context, last bool) status.Observation {
	var o status.Observation
	switch {
	case s.startDue:
		o = s.start(ctx)
	case !s.following && !isSafe(s.probe.method()) && !s.probe.Follow.none:
		o = nowhereToLook()
	default:
		o = s.look(ctx, last)
	}
	o.Kind = status.KindHTTP
	return o
}

// start sends the request that starts the operation.
func (s *Session) start(ctx context.Context) status.Observation {
	got, lost := s.client.do(ctx, call{method: s.probe.method(), at: s.given, body: s.probe.Body, start: true})
	if lost != nil {
		return s.startLost(lost)
	}
	if h, ok := turned(got.hops); ok {
		s.startDue = false
		s.follow(lead{to: h.to, monitor: status.MonitorLocation})
		return s.looked(ctx, got)
	}
	o := s.client.observe(got)
	o.Following.Start = true
	if o.RefusedForLoad() {
		return o
	}
	s.startDue = false
	switch {
	case o.Good():
		s.started(ctx, &o, got)
	case leavesOpen(got.code, s.probe.method()):
		s.bounced(ctx, &o, got)
	case mayHaveStarted(got.code):
		words := fmt.Sprintf("the operation may have started: the request that starts it was answered with HTTP %d %s",
			got.code, http.StatusText(got.code))
		o.Failure = fail(status.FailureMayHaveStarted, words, nil)
	}
	return o
}

// startLost judges a start without an answer. One that never left is due again.
func (s *Session) startLost(l *lost) status.Observation {
	if h, ok := turned(l.hops); ok {
		s.startDue = false
		s.follow(lead{to: h.to, monitor: status.MonitorLocation})
		o := l.observation()
		o.Following.Monitor = status.MonitorLocation
		return o
	}
	o := l.observation()
	o.Following.Start = true
	if !l.left {
		return o
	}
	s.startDue = false
	switch f := l.failure; f.Kind {
	case status.FailureTransient:
		o.Failure = fail(status.FailureMayHaveStarted, "the operation may have started, the answer was lost: "+f.Reason, f.Err)
	case status.FailureStopped:
		o.Failure = fail(status.FailureStopped, f.Reason+"; the operation may have started", f.Err)
	}
	return o
}

// turned returns the redirect that made a GET of the request.
func turned(hops []hop) (hop, bool) {
	for _, h := range hops {
		if h.turned {
			return h, true
		}
	}
	return hop{}, false
}

// mayHaveStarted reports whether an answer that is not good leaves it open what
// became of the request.
func mayHaveStarted(code int) bool {
	switch code {
	case http.StatusSwitchingProtocols, http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return code >= 500
}

// started looks for what the answer to the start says to follow.
func (s *Session) started(ctx context.Context, o *status.Observation, got *answer) {
	s.startLocation, s.startedAt = got.header.Get("Location"), got.from
	l, problem := s.probe.Follow.find(ctx, s.probe.method(), got, s.client.trustAll)
	switch {
	case l.to.url == nil && problem != nil:
		o.Following.Missing, o.Following.Untrusted = problem.Error(), errors.Is(problem, ErrUntrusted)
	case problem != nil:
		o.Remarks = append(o.Remarks, problem.Error())
	}
	if l.to.url != nil {
		s.announce(o, got, l)
	}
}

// bounced deals with a redirect of the start of which only the user can know what
// it means: it could as well lead to a login page. With [HTTP.Follow] the user
// says so.
func (s *Session) bounced(ctx context.Context, o *status.Observation, got *answer) {
	if s.probe.Follow.explicit() {
		s.started(ctx, o, got)
		return
	}
	s.remarkBounce(o, got, "it names %s: send the start there if that is its new address; if it is the result or its status, look there")
}

// remarkBounce says of a redirect that was not followed where it leads, in words
// for that.
func (s *Session) remarkBounce(o *status.Observation, got *answer, words string) {
	to, err := got.from.refer(got.header.Get("Location"), true)
	if err != nil {
		return
	}
	if onlyMoved(got.from.url, to.url) {
		words = "nothing was started: the request belongs to %s"
	}
	o.Remarks = append(o.Remarks, fmt.Sprintf(words, urlName(to.url)))
}

// follow makes the next attempts look where a lead points.
func (s *Session) follow(l lead) {
	s.at, s.monitor, s.following = l.to, l.monitor, true
}

// announce follows a lead and says so in the observation.
func (s *Session) announce(o *status.Observation, from *answer, l lead) {
	s.follow(l)
	o.Following.Next = urlName(l.to.url)
	o.Remarks = append(o.Remarks,
		fmt.Sprintf("following %s, as %s says", o.Following.Next, l.source)+leftBehind(from.from, l.to))
}

// nowhereToLook is the attempt after a start that named nothing to follow.
func nowhereToLook() status.Observation {
	failure := fail(status.FailureMayHaveStarted,
		"the request that starts the operation is sent once, and its answer names nothing to follow", nil)
	failure.Advice.Code = status.AdviceFollow
	return status.Observation{Failure: failure, Following: status.Following{Start: true}}
}

// look asks how the operation is.
func (s *Session) look(ctx context.Context, last bool) status.Observation {
	next := call{method: http.MethodGet, at: s.at}
	if !s.following {
		next.method, next.body = s.probe.method(), s.probe.Body
	}
	if s.cache != nil && next.method == http.MethodGet && next.body == nil {
		s.cache.begin(last)
		next.cache = s.cache
	}
	got, lost := s.client.do(ctx, next)
	if lost != nil {
		o := lost.observation()
		o.Following.Monitor = s.monitor
		return o
	}
	if next.cache == nil {
		o := s.looked(ctx, got)
		if leavesOpen(got.code, next.method) {
			s.remarkBounce(&o, got, "it names %s: send the request there if that is its new address")
		}
		return o
	}
	if confirmed, ok := next.cache.settle(got); ok {
		return s.confirmed(ctx, confirmed, got)
	}
	return s.looked(ctx, got)
}

// looked makes an observation of an answer, and of what it says on where to
// look from now on.
func (s *Session) looked(ctx context.Context, got *answer) status.Observation {
	o := s.client.observe(got)
	o.Following.Monitor = s.kindOf(ctx, got)
	s.recall(&o)
	s.suspect(&o, got)
	switch {
	case s.following && seeOther(got.hops):
	case s.following:
		if l, ok := renewed(s.monitor, got, s.client.trustAll); ok && !l.to.same(s.at) {
			s.announce(&o, got, l)
		}
	case s.probe.Follow.explicit() && o.Good():
		s.started(ctx, &o, got)
		o.Following.Start = o.Following.Next != ""
	}
	return o
}

// recall puts into a look what earlier ones said of the operation, and takes note
// of what it says itself. What comes with a 202 is not the document that the code
// promises.
func (s *Session) recall(o *status.Observation) {
	o.Following.Earlier = s.statement
	if !s.following || *o.Code == http.StatusAccepted {
		return
	}
	if statement := o.Statement(); statement != "" {
		s.statement = statement
	}
}

// suspect doubts a page that a redirect led to, where none was expected: one to log
// in comes so, in place of the answer. A 303 says that the answer is elsewhere.
func (s *Session) suspect(o *status.Observation, got *answer) {
	last := len(got.hops) - 1
	switch {
	case !s.following || !isGood(got.code) || !isPage(got):
	case last < 0:
		s.servesHTML = true
	case s.servesHTML, s.client.wantsHTML(), seeOther(got.hops), got.hops[last].start:
	default:
		o.Doubt = fmt.Sprintf("redirected by %d to %s, an HTML page that may be one to log in",
			got.hops[last].code, urlName(got.from.url))
	}
}

// isPage reports whether an answer is an HTML page.
func isPage(a *answer) bool {
	kind := a.header.Get("Content-Type")
	if kind == "" {
		kind = http.DetectContentType(a.body)
	}
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// kindOf says what kind of document an answer is. A 303 leads from a status
// document to the result, and behind a Location a document with a
// provisioningState is a status document, whatever its code.
func (s *Session) kindOf(ctx context.Context, got *answer) status.Monitor {
	switch {
	case s.following && seeOther(got.hops):
		return status.MonitorResult
	case s.monitor == status.MonitorLocation && isGood(got.code) && hasProvisioningState(ctx, got):
		return status.MonitorAzure
	}
	return s.monitor
}

// seeOther reports whether a look, not the request that starts the operation, was
// sent elsewhere for its answer.
func seeOther(hops []hop) bool {
	return slices.ContainsFunc(hops, func(h hop) bool { return h.code == http.StatusSeeOther && !h.start })
}

// confirmed makes an observation of the answer that a 304 stands for. What the
// 304 says of asking again is its own.
func (s *Session) confirmed(ctx context.Context, kept, got *answer) status.Observation {
	o := s.looked(ctx, kept)
	advice := hint.Read(got.code, got.header, nil, got.received)
	o.Hint, o.Exhausted, o.ShouldRetry = advice.Hint, advice.Exhausted, advice.ShouldRetry
	o.Remarks = advice.Remarks
	o.NotModified = true
	return o
}

// observe makes an observation of an answer.
func (c *client) observe(got *answer) status.Observation {
	advice := hint.Read(got.code, got.header, got.body, got.received)
	o := status.Observation{
		Body:        got.body,
		Size:        got.size,
		Truncated:   got.truncated,
		Code:        &got.code,
		Header:      got.header,
		Hint:        advice.Hint,
		Exhausted:   advice.Exhausted,
		ShouldRetry: advice.ShouldRetry,
		Remarks:     advice.Remarks,
	}
	for _, h := range got.hops {
		o.Remarks = append(o.Remarks,
			fmt.Sprintf("redirected by %d to %s", h.code, urlName(h.to.url))+leftBehind(h.from, h.to))
	}
	return o
}

// Result looks for the result of an operation whose status document said that it
// is done, where that is another document (Azure's API guidelines, "Long-running
// operations"): at resourceLocation; at the Location of the answer to the POST
// that started it; at the URL itself after PUT and PATCH.
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
	look = func(ctx context.Context) (o status.Observation) {
		if err != nil {
			o.Failure = fail(status.FailureHopeless, "it "+err.Error(), err)
		} else if got, lost := s.client.do(ctx, call{method: http.MethodGet, at: at}); lost != nil {
			o = lost.observation()
		} else {
			o = s.client.observe(got)
			s.suspect(&o, got)
		}
		o.Kind, o.Following.Monitor = status.KindHTTP, status.MonitorResult
		return o
	}
	return look, what
}

// errNotNamed is why there is no place of a result.
var errNotNamed = errors.New("is not named")

// resultPlace returns where the result is. A place that is named and cannot be
// looked at is an error: the status document is not what was asked for.
func (s *Session) resultPlace(last status.Observation) (place, error) {
	switch reference := resourceLocation(&answer{body: last.Body}); {
	case !reference.Exists() || reference.Kind == expr.KindNull || reference.Raw == `""`:
	case reference.Kind != expr.KindString:
		return place{}, errors.New("is no text")
	default:
		return s.at.refer(reference.Text(), s.client.trustAll)
	}
	switch s.probe.method() {
	case http.MethodPut, http.MethodPatch:
		return s.given, nil
	case http.MethodPost:
		to, err := s.startedAt.refer(s.startLocation, s.client.trustAll)
		if err != nil && !errors.Is(err, ErrUntrusted) {
			err = errNotNamed
		}
		return to, err
	}
	return place{}, errNotNamed
}
