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

// An Operation is a request with the connection of one wait: it starts an operation, and follows the URLs that
// responses name. It makes its calls through layers. All positions share the connection (the renewed header, the
// cookies, the validators with the kept body, the ID of the last event), which is locked: attempts are made one after the
// other.
type Operation struct {
	mu     sync.Mutex
	client *client
	outer  layer // of those that the request asks for
	follow follow
	first  phase // of the first attempt
	second phase // if no response names a URL to follow
}

// NewOperation returns the operation of a request, or an error if the request cannot be sent.
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
	next, err := parsePager(r.Next, environ)
	o.outer = layers(c, next)
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

// First returns the position of the first attempt.
func (o *Operation) First() Position { return Position{Phase: o.first, At: o.client.given} }

// Streams reports whether each message of a response is evaluated.
func (o *Operation) Streams() bool { return o.client.Stream }

// Continues reports whether the request of an attempt depends on the responses to earlier attempts.
func (o *Operation) Continues() bool { return o.first == startDue || o.follow.explicit() }

// KeepsEnviron reports whether the result of Save can hold a variable of the environment: the
// URL that is followed is built from one.
func (o *Operation) KeepsEnviron() bool { return o.follow.namesEnviron() }

// Credentials returns the parts of a request that only the origin of the given URL gets: equal for
// equal credentials, "" if there are none. It is secret.
func (o *Operation) Credentials() string {
	all := o.client.credentials()
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("%q", all)
}

// A step is an attempt under way: its Position becomes that of the next attempt.
type step struct {
	*Operation
	Position
}

// A Reply is the result of an attempt.
type Reply struct {
	status.Observation
	Next Position // of the next attempt
	// Result is where the result of the operation is if the Observation means SUCCESS, nil if the Observation has the
	// result. ResultErr is the reason why the result cannot be requested, nil for none.
	Result    *Position
	ResultErr error
}

// Check makes one attempt at a position.
func (op *Operation) Check(ctx context.Context, a Attempt, at Position) Reply {
	op.mu.Lock()
	defer op.mu.Unlock()
	if f := a.wait(ctx, at.At); f != nil {
		return Reply{Observation: failed(f, call{}).observation(), Next: at}
	}
	c, s := op.client, &step{op, at}
	var o seen
	if a.Anew {
		c.memory.LastID = ""
	}
	switch at.Phase {
	case startDue:
		o = s.start(ctx, a)
	case started:
		o.Kind, o.Start = status.KindHTTP, true
		o.Failure = fail(status.FailureMayHaveStarted,
			"the request that starts the operation is sent once, and its answer names no URL to follow", nil)
		o.Failure.Advice.Code = status.AdviceFollow
	case fetching:
		a.Tell = nil // a result is no stream
		got := s.plain().do(ctx, call{Attempt: a, method: http.MethodGet, at: at.At})
		o = got.seen
		if got.Failure == nil && len(got.asked.redirects) > 0 {
			o.Doubt = s.doubt(got)
		}
		o.Monitor, o.Result = meaning.MonitorResult, true
	default:
		o = s.look(ctx, a)
	}
	if retry := c.memory.Retry; o.Failure != nil && retry > 0 && (o.Hint == nil || o.Hint.Wait < retry) {
		o.Hint = &status.Hint{Wait: retry, Source: "its retry field"}
	}
	if c.unreported {
		c.unreported = false
		o.Remarks = append(slices.Clip(o.Remarks), "credentials are not sent to "+c.withheld+", which is another origin")
	}
	r := Reply{Observation: o.observation(), Next: s.Position}
	if o.Monitor == meaning.MonitorAzure && s.Monitor == meaning.MonitorAzure {
		r.Result, r.ResultErr = s.result(o.Body)
	}
	return r
}

// look makes an attempt that starts nothing.
func (s *step) look(ctx context.Context, a Attempt) seen {
	next := call{Attempt: a, method: http.MethodGet, at: s.At, single: s.leadsOn()}
	if s.Phase == given || s.Phase == unsent {
		next.method, next.body = s.client.Method, s.client.Body
	}
	got := s.outer.do(ctx, next)
	o := s.observe(ctx, got)
	if s.Phase == unsent && !got.unsent && !o.refusedForLoad() {
		s.Phase = given
	}
	o.Due = s.Phase == unsent
	if got.Failure == nil && !o.isConfirmed && isAmbiguous(got.code, got.asked.method) {
		remarkRedirect(&o, got)
	}
	return o
}

// leadsOn reports whether the next answer only says where to look.
func (s *step) leadsOn() bool {
	return s.Phase != following && s.follow.explicit()
}

// observe makes the observation of a look, and notes where its answer says to look from
// now on.
func (s *step) observe(ctx context.Context, got *answer) seen {
	o := got.seen
	o.Remarks = slices.Clip(o.Remarks)
	o.Monitor = s.Monitor
	if got.Failure != nil || got.Page > 0 {
		return o
	}
	o.Earlier = s.Statement
	switch {
	case s.Phase == following:
		s.observeFollowed(&o, got)
	case s.leadsOn() && o.Good():
		s.findLink(ctx, &o, got)
		o.Start = o.Next != ""
		if o.Missing != "" {
			o.Missing = "nothing to follow: " + o.Missing
		}
	case s.Phase == given && s.follow.word != "none" && got.code == http.StatusAccepted:
		if l, _ := s.client.headerLink(got, meaning.MonitorGiven); l.to.url != nil && !l.to.same(got.asked.at) {
			o.Observation.Advice = status.Advice{Code: status.AdviceOffered, Text: l.source}
		}
	}
	return o
}

// observeFollowed notes the answer from a URL that an earlier answer named.
func (s *step) observeFollowed(o *seen, got *answer) {
	// The body of a 202 is not the document that was asked for.
	if statement := meaning.Statement(&o.Observation); statement != "" && got.code != http.StatusAccepted {
		s.Statement = statement
	}
	o.Doubt = cmp.Or(s.doubt(got), o.Doubt)
	o.Accepted = s.Accepted && !got.Moved
	s.Accepted = s.Accepted || got.code == http.StatusAccepted && !got.Moved
	if s.isElsewhere(got) {
		o.Monitor = meaning.MonitorSeeOther
		return
	}
	// Behind a Location, too, a document with a provisioningState is a status
	// document, whatever its code.
	isLocation := s.Monitor == meaning.MonitorLocation || s.Monitor == meaning.MonitorCreated
	if isLocation && got.Good() && hasProvisioningState(got) {
		o.Monitor = meaning.MonitorAzure
	}
	if l, _ := s.client.headerLink(got, s.Monitor); l.to.url != nil && !l.to.same(s.At) && s.Monitor != meaning.MonitorGiven {
		s.goTo(l, o)
	}
}

// findLink follows the link in an answer, if there is one.
func (s *step) findLink(ctx context.Context, o *seen, got *answer) {
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
func (s *step) goTo(l link, o *seen) {
	s.At, s.Monitor, s.Phase, s.Accepted = l.to, l.monitor, following, false
	o.Next = urlName(l.to.url)
	o.Remarks = append(o.Remarks, fmt.Sprintf("following %s, as %s says", o.Next, l.source))
}

// isElsewhere reports whether a 303 led from a status document to another. A 303 of the request
// that starts the operation does not count.
func (s *step) isElsewhere(got *answer) bool {
	isSeeOther := func(r redirect) bool { return r.code == http.StatusSeeOther && !r.start }
	return slices.ContainsFunc(got.asked.redirects, isSeeOther) && got.asked.at.identity() != s.At.identity()
}

// doubt says why a good answer may not be one: it is an HTML page, perhaps one to log in or of
// a server under maintenance, where none was asked for.
func (s *step) doubt(got *answer) string {
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
func (s *step) start(ctx context.Context, a Attempt) seen {
	c := s.client
	got := s.outer.do(ctx, call{Attempt: a, method: c.Method, at: s.At, body: c.Body, start: true, redirects: s.redirects})
	for _, r := range got.asked.redirects {
		if r.toGET && !(c.Method == http.MethodDelete && isMissing(got)) { // so the answer is that of a look
			s.At, s.Monitor, s.Phase = r.to, meaning.MonitorCreated, following
			o := s.observe(ctx, got)
			o.Next = cmp.Or(o.Next, urlName(s.At.url))
			return o
		}
	}
	o := got.seen
	o.Start = true
	if got.unsent || o.refusedForLoad() || o.Renewed {
		o.Due = true
		s.At, s.redirects = got.asked.at, got.asked.redirects
		return o
	}
	s.Phase, s.At, s.redirects = s.second, c.given, nil
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
func (s *step) started(ctx context.Context, o *seen, got *answer) {
	c := s.client
	switch {
	case got.Moved && isMissing(got): // a 404 elsewhere says nothing of the given URL
		if s.Phase == started {
			s.Phase = following
		}
		o.Next = urlName(s.At.url)
	case s.Phase == returned && (o.Good() || got.code == http.StatusSeeOther):
		o.Next = urlName(s.At.url)
	case o.Good(), isAmbiguous(got.code, c.Method) && s.follow.explicit():
		named, err := c.refer(got.asked.at, got.Header.Get("Location"))
		if err == nil || errors.Is(err, ErrUntrusted) {
			s.Named, s.namedErr = named, err
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

// plain returns the layer for what is no page and is not asked for again if it has changed.
func (s *step) plain() layer {
	if s.client.Refresh != nil {
		return renewed{s.client, s.client}
	}
	return s.client
}

// result returns where the result of an operation is, if the document of its status names another document
// (Azure's API guidelines, "Long-running operations"): at resourceLocation; at the Location of the response to the POST
// that started the operation; at the URL itself after PUT and PATCH. It returns nil if the document has the result. A location that is named
// but unusable is an error: the document is not the result.
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

func (s *step) resultLocation(document []byte) (location, error) {
	var operation struct{ ResourceLocation any }
	decode(document, "resourceLocation", &operation)
	switch reference, isText := operation.ResourceLocation.(string); {
	case reference != "":
		return s.client.refer(s.At, reference)
	case !isText && operation.ResourceLocation != nil:
		return location{}, errors.New("is no text")
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		return s.Named, s.namedErr
	}
	return location{}, nil
}
