package request

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Session is a request in one run: it starts an operation, and follows the URLs that
// answers name. It makes its calls through layers.
type Session struct {
	client *client
	outer  layer // of those that the request asks for
	follow follow

	phase     phase
	first     phase           // of a new session
	second    phase           // if no answer names a URL to follow
	at        location        // where the next attempt looks
	led       []redirect      // of the request that starts the operation, to at, while that is due
	monitor   meaning.Monitor // of at, while it is followed
	accepted  bool            // at has returned a 202
	statement string          // the last one in the answers from there, "" for none
	attempt   Attempt

	// named is the Location in the answer to the start, if there is one; namedErr is
	// [ErrUntrusted] if it must not be requested.
	named    location
	namedErr error
}

// A phase says what the next attempt sends.
type phase int

const (
	given     phase = iota // the request that was given, which starts nothing
	unsent                 // the same for the first time; it changes something
	startDue               // the request that starts the operation
	started                // nothing: it was sent, and its answer names no URL to follow
	returned               // a GET of the URL that was given; the operation was started
	following              // a GET of a URL that an answer has named
)

// NewSession returns the session of a request, or an error if it cannot be sent.
func NewSession(r Request) (*Session, error) {
	c, err := newClient(r)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, at: c.given}
	environ := expr.WithEnviron(r.LookupEnv)
	if s.follow, err = parseFollow(r.Follow, environ); err != nil {
		return nil, err
	}
	next, err := parsePager(r.Next, environ)
	s.outer = layers(c, next)
	switch {
	case isSafe(c.Method):
		s.first, s.second = given, given
	case s.follow.word == "none":
		s.first, s.second = unsent, given
	case s.follow.word == "self":
		s.first, s.second = startDue, returned
	default:
		s.first, s.second = startDue, started
	}
	s.phase = s.first
	return s, err
}

// Streams reports whether each message of an answer is judged.
func (s *Session) Streams() bool { return s.client.Stream }

// GoesOn reports whether the request of an attempt depends on the responses to earlier attempts.
func (s *Session) GoesOn() bool { return s.first == startDue || s.follow.explicit() }

// StartDue reports whether the next attempt sends the request that starts the
// operation.
func (s *Session) StartDue() bool { return s.phase == startDue }

// Place returns the scheme, host and port that the next attempt asks first.
func (s *Session) Place() string { return s.at.origin() }

// Credentials returns the parts of a request that only the origin of the given URL gets: equal for
// equal credentials, "" if there are none. It is secret.
func (s *Session) Credentials() string {
	all := s.client.credentials()
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("%q", all)
}

// Look makes one attempt.
func (s *Session) Look(ctx context.Context, a Attempt) status.Observation {
	var o seen
	s.attempt = a
	s.attempt.Tell = nil // a result is no stream
	if a.Anew {
		s.client.memory.LastID = ""
	}
	switch s.phase {
	case startDue:
		o = s.start(ctx, a)
	case started:
		o.Kind, o.Start = status.KindHTTP, true
		o.Failure = fail(status.FailureMayHaveStarted,
			"the request that starts the operation is sent once, and its answer names no URL to follow", nil)
		o.Failure.Advice.Code = status.AdviceFollow
	default:
		o = s.look(ctx, a)
	}
	if retry := s.client.memory.Retry; o.Failure != nil && retry > 0 && (o.Hint == nil || o.Hint.Wait < retry) {
		o.Hint = &status.Hint{Wait: retry, Source: "its retry field"}
	}
	if c := s.client; c.unreported {
		c.unreported = false
		o.Remarks = append(slices.Clip(o.Remarks), "credentials are not sent to "+c.withheld+", which is another origin")
	}
	return o.observation()
}

// look makes an attempt that starts nothing.
func (s *Session) look(ctx context.Context, a Attempt) seen {
	next := call{Attempt: a, method: http.MethodGet, at: s.at, single: s.leadsOn()}
	if s.phase == given || s.phase == unsent {
		next.method, next.body = s.client.Method, s.client.Body
	}
	got := s.outer.do(ctx, next)
	o := s.observe(ctx, got)
	if s.phase == unsent && !got.unsent && !o.refusedForLoad() {
		s.phase = given
	}
	o.Due = s.phase == unsent
	if got.Failure == nil && !o.isConfirmed && isAmbiguous(got.code, got.asked.method) {
		remarkRedirect(&o, got)
	}
	return o
}

// leadsOn reports whether the next answer only says where to look.
func (s *Session) leadsOn() bool {
	return s.phase != following && s.follow.explicit()
}

// observe makes the observation of a look, and notes where its answer says to look from
// now on.
func (s *Session) observe(ctx context.Context, got *answer) seen {
	o := got.seen
	o.Remarks = slices.Clip(o.Remarks)
	o.Monitor = s.monitor
	if got.Failure != nil || got.Page > 0 {
		return o
	}
	o.Earlier = s.statement
	switch {
	case s.phase == following:
		s.observeFollowed(&o, got)
	case s.leadsOn() && o.Good():
		s.findLink(ctx, &o, got)
		o.Start = o.Next != ""
		if o.Missing != "" {
			o.Missing = "nothing to follow: " + o.Missing
		}
	case s.phase == given && s.follow.word != "none" && got.code == http.StatusAccepted:
		if l, _ := s.client.headerLink(got, meaning.MonitorGiven); l.to.url != nil && !l.to.same(got.asked.at) {
			o.Observation.Advice = status.Advice{Code: status.AdviceOffered, Text: l.source}
		}
	}
	return o
}

// observeFollowed notes the answer from a URL that an earlier answer named.
func (s *Session) observeFollowed(o *seen, got *answer) {
	// The body of a 202 is not the document that was asked for.
	if statement := meaning.Statement(&o.Observation); statement != "" && got.code != http.StatusAccepted {
		s.statement = statement
	}
	o.Doubt = cmp.Or(s.doubt(got), o.Doubt)
	o.Accepted = s.accepted && !got.Moved
	s.accepted = s.accepted || got.code == http.StatusAccepted && !got.Moved
	if s.isElsewhere(got) {
		o.Monitor = meaning.MonitorSeeOther
		return
	}
	// Behind a Location, too, a document with a provisioningState is a status
	// document, whatever its code.
	isLocation := s.monitor == meaning.MonitorLocation || s.monitor == meaning.MonitorCreated
	if isLocation && got.Good() && hasProvisioningState(got) {
		o.Monitor = meaning.MonitorAzure
	}
	if l, _ := s.client.headerLink(got, s.monitor); l.to.url != nil && !l.to.same(s.at) && s.monitor != meaning.MonitorGiven {
		s.goTo(l, o)
	}
}

// findLink follows the link in an answer, if there is one.
func (s *Session) findLink(ctx context.Context, o *seen, got *answer) {
	l, problem := s.follow.find(ctx, s.client, got)
	if l.to.url != nil {
		if problem != nil {
			o.Remarks = append(o.Remarks, problem.Error())
		}
		s.goTo(l, o)
	} else if problem != nil {
		o.Missing = problem.Error()
		if errors.Is(problem, ErrUntrusted) {
			o.Observation.Advice.Code = status.AdviceUntrusted
		}
	}
}

// goTo makes the next attempts look where a link points, and says so.
func (s *Session) goTo(l link, o *seen) {
	s.at, s.monitor, s.phase, s.accepted = l.to, l.monitor, following, false
	o.Next = urlName(l.to.url)
	o.Remarks = append(o.Remarks, fmt.Sprintf("following %s, as %s says", o.Next, l.source))
}

// isElsewhere reports whether a 303 led from a status document to another. A 303 of the request
// that starts the operation does not count.
func (s *Session) isElsewhere(got *answer) bool {
	isSeeOther := func(r redirect) bool { return r.code == http.StatusSeeOther && !r.start }
	return slices.ContainsFunc(got.asked.redirects, isSeeOther) && got.asked.at.identity() != s.at.identity()
}

// doubt says why a good answer may not be one: it is an HTML page, perhaps one to log in or of
// a server under maintenance, where none was asked for.
func (s *Session) doubt(got *answer) string {
	wanted := strings.Join(s.client.header["Accept"], "")
	if !got.Good() || !isHTML(got) || strings.Contains(strings.ToLower(wanted), "html") {
		return ""
	}
	n := len(got.asked.redirects)
	if n == 0 {
		return "the answer is an HTML page"
	}
	return fmt.Sprintf("redirected by %d to %s, an HTML page that may be a login page", got.asked.redirects[n-1].code, urlName(got.asked.at.url))
}

// isHTML reports whether an answer is an HTML page.
func isHTML(a *answer) bool {
	kind, _, _ := mime.ParseMediaType(cmp.Or(a.Header.Get("Content-Type"), http.DetectContentType(a.Body)))
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// start sends the request that starts the operation. It is due again only where it never
// left, or was refused for load or for its credentials: it goes on where redirects have led it, so
// that the redirecting server does not get it again.
func (s *Session) start(ctx context.Context, a Attempt) seen {
	c := s.client
	got := s.outer.do(ctx, call{Attempt: a, method: c.Method, at: s.at, body: c.Body, start: true, redirects: s.led})
	for _, r := range got.asked.redirects {
		if r.toGET && !(c.Method == http.MethodDelete && isMissing(got)) { // so the answer is that of a look
			s.at, s.monitor, s.phase = r.to, meaning.MonitorCreated, following
			o := s.observe(ctx, got)
			o.Next = cmp.Or(o.Next, urlName(s.at.url))
			return o
		}
	}
	o := got.seen
	o.Start = true
	if got.unsent || o.refusedForLoad() || o.Renewed {
		o.Due = true
		s.at, s.led = got.asked.at, got.asked.redirects
		return o
	}
	s.phase, s.at, s.led = s.second, c.given, nil
	if got.Failure == nil {
		s.started(ctx, &o, got)
		return o
	}
	switch f := got.Failure; f.Kind {
	case status.FailureTransient:
		words := "the operation may have started, the answer was lost: " + f.Reason
		o.Failure = fail(status.FailureMayHaveStarted, words, f.Err)
	case status.FailureStopped:
		o.Failure = fail(status.FailureStopped, f.Reason+"; the operation may have started", f.Err)
	}
	return o
}

// started notes where the answer to a start says to look.
func (s *Session) started(ctx context.Context, o *seen, got *answer) {
	c := s.client
	switch {
	case got.Moved && isMissing(got): // a 404 elsewhere says nothing of the given URL
		if s.phase == started {
			s.phase = following
		}
		o.Next = urlName(s.at.url)
	case s.phase == returned && (o.Good() || got.code == http.StatusSeeOther):
		o.Next = urlName(s.at.url)
	case o.Good(), isAmbiguous(got.code, c.Method) && s.follow.explicit():
		named, err := c.refer(got.asked.at, got.Header.Get("Location"))
		if err == nil || errors.Is(err, ErrUntrusted) {
			s.named, s.namedErr = named, err
		}
		s.findLink(ctx, o, got)
	case isAmbiguous(got.code, c.Method):
		remarkRedirect(o, got)
	case mayHaveStarted(got.code):
		o.Failure = fail(status.FailureMayHaveStarted, fmt.Sprintf("the operation may have started: "+
			"the request that starts it was answered with HTTP %d %s", got.code, http.StatusText(got.code)), nil)
	}
}

// isMissing reports whether an answer says that nothing is there.
func isMissing(got *answer) bool {
	return got.code == http.StatusNotFound || got.code == http.StatusGone
}

// mayHaveStarted reports whether an answer that is not good leaves open whether the
// operation was started.
func mayHaveStarted(code int) bool {
	switch code {
	case http.StatusSwitchingProtocols, http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	}
	return code >= 500 && code != http.StatusNotImplemented && code != http.StatusHTTPVersionNotSupported
}

// remarkRedirect says where a redirect leads that was not followed. Only the user can know
// what it means: it could as well be a login page.
func remarkRedirect(o *seen, got *answer) {
	if to, err := got.asked.at.resolve(got.Header.Get("Location"), true); err == nil {
		o.Remarks = append(o.Remarks, fmt.Sprintf("it names %s: send the request there if that is its new address; "+
			"if it is the result or its status, look there", urlName(to.url)))
	}
}

// Result looks for the result of an operation whose status document said that it is done,
// if that is another document (Azure's API guidelines, "Long-running operations"): at
// resourceLocation; at the Location of the answer to the POST that started it; at the URL
// itself after PUT and PATCH.
//
// The first look is part of the last attempt, and waits for its Pace.
func (s *Session) Result(last status.Observation) (look func(context.Context) status.Observation, what string) {
	if meaning.Of(&last).Monitor != meaning.MonitorAzure || s.monitor != meaning.MonitorAzure {
		return nil, ""
	}
	at, err := s.resultLocation(last)
	if err == nil && (at.url == nil || at.same(s.at)) {
		return nil, ""
	}
	what = "follow its resourceLocation"
	if at.url != nil {
		what = "get " + urlName(at.url)
	}
	first := true
	return func(ctx context.Context) status.Observation {
		got := failed(nil, call{Attempt: s.attempt, method: http.MethodGet, at: at})
		if err != nil {
			got.Failure = fail(status.FailureHopeless, "it "+err.Error(), err)
		} else if first {
			got.Failure = s.attempt.wait(ctx, at)
		}
		if got.Failure == nil {
			first = false
			got = s.plain().do(ctx, got.asked)
		}
		o := got.seen
		if got.Failure == nil && len(got.asked.redirects) > 0 {
			o.Doubt = s.doubt(got)
		}
		o.Monitor, o.Result = meaning.MonitorResult, true
		return o.observation()
	}, what
}

// plain returns the layer for what is no page and is not asked for again if it has changed.
func (s *Session) plain() layer {
	if s.client.Refresh != nil {
		return renewed{s.client, s.client}
	}
	return s.client
}

// resultLocation returns where the result is, no URL if that is not named. A location that is named
// but unusable is an error: the status document is not the result.
func (s *Session) resultLocation(last status.Observation) (location, error) {
	var operation struct{ ResourceLocation any }
	decode(last.Body, "resourceLocation", &operation)
	switch reference, isText := operation.ResourceLocation.(string); {
	case reference != "":
		return s.client.refer(s.at, reference)
	case !isText && operation.ResourceLocation != nil:
		return location{}, errors.New("is no text")
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		return s.named, s.namedErr
	}
	return location{}, nil
}
