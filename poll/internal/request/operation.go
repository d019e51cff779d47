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
	"sync"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Operation sends the HTTP requests of one wait. In the simplest case, every attempt sends the same request. If
// the request starts a long-running operation on the server, the Operation sends it once, and then polls the URLs
// that responses name.
//
// The state that changes between attempts is a [Position], except for the client's state: renewed header fields,
// cookies, the last response for conditional requests, and the last event ID. A lock protects the client, so attempts
// run one at a time.
type Operation struct {
	mu     sync.Mutex
	client *client
	follow reference // the parsed Follow
	first  phase     // phase of the first attempt
	second phase     // phase after the first attempt, if the response names no URL to follow
}

// NewOperation returns an operation for r, or an error if r is invalid. The error holds no secrets.
func NewOperation(r Request) (*Operation, error) {
	c, err := newClient(r)
	if err != nil {
		return nil, err
	}
	o := &Operation{client: c}
	environ := expr.WithEnviron(r.LookupEnv)
	if o.follow, err = parseFollow(r.Follow, environ); err != nil {
		return nil, err
	}
	c.next, err = parsePager(r.Next, environ)
	switch {
	case isSafe(c.Method):
		o.first, o.second = given, given
	case o.follow.word == "none":
		o.first, o.second = unsent, given
	case o.follow.word == "self":
		o.first, o.second = startDue, returned
	default:
		o.first, o.second = startDue, started
	}
	return o, err
}

// First returns the position before the first attempt.
func (o *Operation) First() Position { return Position{Phase: o.first, At: o.client.given} }

// Streams reports whether successful responses are read as streams, so that each message is evaluated on arrival.
func (o *Operation) Streams() bool { return o.client.Stream }

// Continues reports whether later attempts depend on earlier responses: the request starts an operation, or Follow
// builds the next URL from the first response.
func (o *Operation) Continues() bool { return o.first == startDue || o.follow.explicit() }

// KeepsEnviron reports whether the result of Save may contain an environment variable, because an expression in
// Follow reads that variable.
func (o *Operation) KeepsEnviron() bool { return o.follow.reads("ENV") }

// Credentials returns a string that is equal for requests with equal credentials, and "" for requests without
// credentials. The string contains the credentials, so it is secret.
func (o *Operation) Credentials() string {
	all := o.client.credentials()
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("%q", all)
}

// A step is an attempt in progress. Its Position is at first the position of this attempt. The attempt changes it to
// the position of the next attempt.
type step struct {
	*Operation
	Position
}

// A Reply is the result of an attempt.
type Reply struct {
	status.Observation
	Next Position // position for the next attempt
	// Result is the position for requesting the operation's result after a SUCCESS. It is nil if this response
	// already has the result. ResultErr is the reason why the result cannot be requested, or nil.
	Result    *Position
	ResultErr error
}

// Check makes one attempt from the given position, as soon as a.Pace permits. If a.Pace permits no request
// before ctx or the wait ends, the Reply has a failure, and its Next is the same position.
func (op *Operation) Check(ctx context.Context, a Attempt, at Position) Reply {
	op.mu.Lock()
	defer op.mu.Unlock()
	if f := a.wait(ctx, at.At); f != nil {
		return Reply{Observation: failed(f, call{}).observation(), Next: at}
	}
	c, s := op.client, &step{op, at}
	var got *response
	if a.Anew {
		c.memory.LastID = ""
	}
	switch at.Phase {
	case startDue:
		got = s.start(ctx, a)
	case started:
		got = failed(fail(status.FailureMayHaveStarted,
			"the start request is sent once, and its response names no URL to follow", nil), call{})
		got.Start, got.Failure.Hints = true, []status.Hint{{Kind: status.HintFollow}}
	case fetching:
		a.Message = nil // the result is read as one document, even if it is sent as a stream
		got = c.sendRenewed(ctx, call{Attempt: a, method: http.MethodGet, at: at.At})
		if got.Failure == nil && len(got.call.redirects) > 0 {
			got.Doubt = s.doubt(got)
		}
		got.Monitor, got.Result = meaning.MonitorResult, true
	default:
		got = s.check(ctx, a)
	}
	if retry := c.memory.Retry; got.Failure != nil && retry > 0 && (got.RetryAfter == nil || got.RetryAfter.Wait < retry) {
		got.RetryAfter = &status.RetryAfter{Wait: retry, Source: "its retry field"}
	}
	got.Hints, c.notes = slices.Concat(got.Hints, c.notes), nil
	r := Reply{Observation: got.observation(), Next: s.Position}
	if got.Monitor == meaning.MonitorAzure && s.Monitor == meaning.MonitorAzure {
		r.Result, r.ResultErr = s.result(got.Body)
	}
	return r
}

// check makes an attempt that does not send the start request.
func (s *step) check(ctx context.Context, a Attempt) *response {
	next := call{Attempt: a, method: http.MethodGet, at: s.At, single: s.leadsOn()}
	if s.Phase == given || s.Phase == unsent {
		next.method, next.body = s.client.Method, s.client.Body
	}
	got := s.client.sendPages(ctx, next)
	s.observe(ctx, got)
	if s.Phase == unsent && !got.unsent && !got.refusedForLoad() {
		s.Phase = given
	}
	got.Due = s.Phase == unsent
	if !got.isConfirmed && isAmbiguous(got.code, got.call.method) {
		got.noteRedirect()
	}
	return got
}

// leadsOn reports whether the next response serves only to build the URL to poll, because Follow is an
// expression or a URL.
func (s *step) leadsOn() bool {
	return s.Phase != following && s.follow.explicit()
}

// observe completes got, the response of this attempt, with facts that depend on the position, such as its
// Monitor. If got names a new URL to follow, observe makes that URL the position of the next attempt.
func (s *step) observe(ctx context.Context, got *response) {
	got.Monitor = s.Monitor
	if got.Failure != nil || got.Page > 0 {
		return
	}
	got.Earlier = s.Statement
	switch {
	case s.Phase == following:
		s.observeFollowed(got)
	case s.leadsOn() && got.Good():
		s.findLink(ctx, got)
		got.Start = got.Next != ""
		if got.Missing != "" {
			got.Missing = "nothing to follow: " + got.Missing
		}
	case s.Phase == given && s.follow.word != "none" && got.code == http.StatusAccepted:
		if l, _ := s.client.headerLink(got, meaning.MonitorGiven); l.to.url != nil && !l.to.same(got.call.at) {
			got.hint(status.Hint{Kind: status.HintOffered, Text: l.source})
		}
	}
}

// observeFollowed is the part of observe for got, a response from a followed URL. If got names a new URL to
// follow, observeFollowed makes that URL the position of the next attempt.
func (s *step) observeFollowed(got *response) {
	// The body of a 202 is not the requested document, so its state does not count.
	if statement := meaning.StateText(&got.Observation); statement != "" && got.code != http.StatusAccepted {
		s.Statement = statement
	}
	got.Doubt = cmp.Or(s.doubt(got), got.Doubt)
	got.Accepted = s.Accepted && !got.Moved
	s.Accepted = s.Accepted || got.code == http.StatusAccepted && !got.Moved
	if s.isElsewhere(got) {
		got.Monitor = meaning.MonitorSeeOther
		return
	}
	// A successful document with a provisioningState is a status document of Azure, even at the URL of a Location.
	isLocation := s.Monitor == meaning.MonitorLocation || s.Monitor == meaning.MonitorCreated
	if isLocation && got.Good() && hasProvisioningState(got) {
		got.Monitor = meaning.MonitorAzure
	}
	if l, _ := s.client.headerLink(got, s.Monitor); l.to.url != nil && !l.to.same(s.At) && s.Monitor != meaning.MonitorGiven {
		s.goTo(l, got)
	}
}

// findLink searches got for the URL to follow, and makes that URL the position of the next attempt. If got
// names only unusable URLs, findLink sets got.Missing to the reason. If got names no URL, got.Missing remains
// "".
func (s *step) findLink(ctx context.Context, got *response) {
	l, problem := s.follow.findLink(ctx, s.client, got)
	if l.to.url != nil {
		if problem != nil {
			got.note(problem.Error())
		}
		s.goTo(l, got)
	} else if problem != nil {
		got.Missing = problem.Error()
		if errors.Is(problem, ErrUntrusted) {
			got.hint(status.Hint{Kind: status.HintUntrusted})
		}
	}
}

// goTo makes the URL of l the position of the next attempt, and adds a note about that URL to got.
func (s *step) goTo(l link, got *response) {
	s.At, s.Monitor, s.Phase, s.Accepted = l.to, l.monitor, following, false
	got.Next = urlName(l.to.url)
	got.note(fmt.Sprintf("following %s, named by %s", got.Next, l.source))
}

// isElsewhere reports whether a 303 redirected the request for a status document to another document. A 303 in
// response to the start request does not count.
func (s *step) isElsewhere(got *response) bool {
	isSeeOther := func(r redirect) bool { return r.code == http.StatusSeeOther && !r.start }
	return slices.ContainsFunc(got.call.redirects, isSeeOther) && got.call.at.identity() != s.At.identity()
}

// doubt returns the reason why got, a successful response, may not be the requested document: got is an HTML
// page, such as a login page or a maintenance page, and the user's Accept does not name HTML. The Content-Type
// or, if it is missing, the body shows whether got is an HTML page. For any other response doubt returns "".
func (s *step) doubt(got *response) string {
	wanted := strings.Join(s.client.header["Accept"], "")
	kind, _, _ := mime.ParseMediaType(cmp.Or(got.Header.Get("Content-Type"), http.DetectContentType(got.Body)))
	isHTML := kind == "text/html" || kind == "application/xhtml+xml"
	n := len(got.call.redirects)
	switch {
	case !isHTML || !got.Good() || strings.Contains(strings.ToLower(wanted), "html"):
		return ""
	case n == 0:
		return "the response is an HTML page"
	}
	return fmt.Sprintf("redirected by %d to %s, an HTML page that may be a login page", got.call.redirects[n-1].code, urlName(got.call.at.url))
}

// start sends the start request. The next attempt repeats it only in these cases:
//
//   - the request was not sent, or the server rejected it because of load
//   - the server redirected it, and the redirect was not followed
//   - the server rejected the credentials, which were then renewed
//
// A repeated request goes directly to the URL at the end of the redirects, because the redirecting servers must not
// receive it again.
func (s *step) start(ctx context.Context, a Attempt) *response {
	c := s.client
	got := c.sendPages(ctx, call{Attempt: a, method: c.Method, at: s.At, body: c.Body, start: true, redirects: s.redirects})
	for _, r := range got.call.redirects {
		if r.toGET && !(c.Method == http.MethodDelete && isMissing(got)) { // this is the response to the GET after the redirect, not to the start request
			s.At, s.Monitor, s.Phase = r.to, meaning.MonitorCreated, following
			s.observe(ctx, got)
			got.Next = cmp.Or(got.Next, urlName(s.At.url))
			return got
		}
	}
	got.Start = true
	isMisdirected := isRedirect(got.code) && got.code != http.StatusSeeOther && !isAmbiguous(got.code, c.Method)
	if got.unsent || got.refusedForLoad() || got.Renewed || isMisdirected {
		got.Due = true
		s.At, s.redirects = got.call.at, got.call.redirects
		return got
	}
	s.Phase, s.At, s.redirects = s.second, c.given, nil
	switch f := got.Failure; {
	case f == nil:
		s.started(ctx, got)
	case f.Kind == status.FailureTransient:
		words := "the operation may have started, but the response was lost: " + f.Reason
		got.Failure = fail(status.FailureMayHaveStarted, words, f.Err)
	case f.Kind == status.FailureStopped:
		got.Failure = fail(status.FailureStopped, f.Reason+"; the operation may have started", f.Err)
	}
	return got
}

// started handles got, the response to the start request: it determines the position of the next attempt. If got is
// unsuccessful, but the server may have started the operation, it sets got.Failure.
func (s *step) started(ctx context.Context, got *response) {
	c := s.client
	switch {
	case got.Moved && isMissing(got): // a 404 from another URL does not mean that the user's URL rejected the request
		if s.Phase == started {
			s.Phase = following
		}
		got.Next = urlName(s.At.url)
	case s.Phase == returned && (got.Good() || got.code == http.StatusSeeOther):
		got.Next = urlName(s.At.url)
	case got.Good(), isAmbiguous(got.code, c.Method) && s.follow.explicit():
		named, err := c.refer(got.call.at, got.Header.Get("Location"))
		if err == nil || errors.Is(err, ErrUntrusted) {
			s.Named, s.namedErr = named, err
		}
		s.findLink(ctx, got)
	case isAmbiguous(got.code, c.Method):
		got.noteRedirect()
	case mayHaveStarted(got.code):
		got.Failure = fail(status.FailureMayHaveStarted, fmt.Sprintf("the operation may have started: "+
			"the response to the start request is HTTP %d %s", got.code, http.StatusText(got.code)), nil)
	}
}

// isMissing reports whether the status of got is 404 or 410.
func isMissing(got *response) bool {
	return got.code == http.StatusNotFound || got.code == http.StatusGone
}

// mayHaveStarted reports whether the operation may be running although the response to the start request is
// unsuccessful. code is the status of that response.
func mayHaveStarted(code int) bool {
	isRejected := code == http.StatusNotImplemented || code == http.StatusHTTPVersionNotSupported
	return code >= 500 && !isRejected ||
		slices.Contains([]int{http.StatusSwitchingProtocols, http.StatusRequestTimeout, http.StatusTooEarly}, code)
}

// noteRedirect adds a note that names the target of a redirect that was not followed. The user has to decide what to
// do, because the target may be the new address, the result or a login page.
func (a *response) noteRedirect() {
	if to, err := a.call.at.resolve(a.Header.Get("Location"), true); err == nil {
		a.note(fmt.Sprintf("the redirect leads to %s: if that is the new address, send the request there; "+
			"if that is the result or the status, wait for that URL", urlName(to.url)))
	}
}

// result returns the position for requesting the result of a finished operation. document is the operation's status
// document. result returns nil if document itself has the result, and an error if the URL of the result cannot be
// requested.
func (s *step) result(document []byte) (*Position, error) {
	to, err := s.resultLocation(document)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it %w", err)
	case to.url == nil, to.same(s.At):
		return nil, nil
	}
	return &Position{Phase: fetching, At: to}, nil
}

// resultLocation returns the URL of the operation's result (Azure's API guidelines, "Long-running operations"). It is
// the resourceLocation in document. Without a resourceLocation, it is the user's URL after a PUT or a PATCH, and the
// Location in the response to the start request after a POST. In any other case, resultLocation returns a location
// without a URL. It returns an error if the URL must not be requested.
func (s *step) resultLocation(document []byte) (location, error) {
	switch reference := member(document, ".resourceLocation"); {
	case reference.Type == "string" && reference.Text() != "":
		return s.client.refer(s.At, reference.Text())
	case !slices.Contains([]string{"string", "null", "missing", "unknown"}, reference.Type):
		return location{}, errors.New("is not text")
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		return s.Named, s.namedErr
	}
	return location{}, nil
}
