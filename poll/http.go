package poll

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/pollcli/poll/poll/internal/request"
)

// HTTP is a [Probe] that requests a URL. Only URL is required.
//
// GET, HEAD and OPTIONS look at the operation at each attempt. A request by any
// other method starts it: it is sent once, and later attempts look where its answer
// or Follow says. It is sent again only if it never left, or if it was refused for load
// (429, or 503 or 403 with a hint such as Retry-After) or for credentials that Refresh has
// renewed since, then to where redirects have led it. Redirects that repeat it (307, 308) are
// followed until it was sent three times. If they lead to another page that is not there (404,
// 410), the next attempt looks at URL.
//
// An attempt is one request and its redirects. An [http.Transport] is kept from sending a
// request by any other method again, and a look more than twice. Redirects are followed as
// browsers do (RFC 9110 section 15.4), except for a 301 or 302 after a POST, which leaves
// open whether anything was done. An HTML page that a redirect leads to may be a login
// page: while an operation is followed, only a condition can say that it is the answer.
//
// Credentials stay with the origin (scheme, host and port) of URL. Another origin, named
// by a redirect or an answer, gets only the headers Accept*, User-Agent and Content-Type:
// no Authorization, no cookies, no User, and no client certificate of an
// [http.Transport]. Cookies that an answer sets are sent back to its own origin until the
// end of the run, unless Header has a Cookie without values. With credentials, https is never
// left for http. A body goes only to its own origin, or from http to the same host over
// https.
type HTTP struct {
	// URL is the URL to request, http or https. Its userinfo is sent as basic
	// authentication.
	URL string
	// Method is the HTTP method; "" means GET, or POST if there is a Body.
	Method string
	// Body is sent with each request to URL; nil means none. Without a Content-Type in
	// Header it is sent as application/x-www-form-urlencoded, as curl does.
	Body []byte
	// Header is sent in addition to "Accept: */*" and "User-Agent: poll", or in place of
	// them. A header without values is not sent. Host sets the request's host. An If-None-Match,
	// even one without values, keeps poll from making requests conditional by itself. Header must
	// not be changed during a run.
	Header http.Header
	// Refresh returns header fields to send from now on in place of those of Header with
	// the same names, such as an Authorization that expires, or the signature of the request.
	// It is called before each request, except redirects, with the request that would be sent
	// now; its context is that of the attempt. After a response of 401 it is called with
	// refused true: if a field is new, that 401 is NOT_READY and not ERROR. An error, which must
	// hold no secret, becomes a remark on the attempt. Fields that are not returned stay as they
	// are; one without values is no longer sent. Runs of the same HTTP may call it at once.
	// Nil means that Header holds for the whole run.
	Refresh func(r *http.Request, refused bool) (http.Header, error)
	// User is sent as basic authentication (RFC 7617) in place of the URL's userinfo; nil
	// means none. An Authorization in Header overrides both.
	User *url.Userinfo

	// MaxBody is how many bytes of an answer, with all its pages, are kept at most. The rest
	// of the page is read and counted, unless it was decompressed. Zero means 64 MiB.
	MaxBody int64
	// MaxRedirects is how many redirects one attempt follows, at most 1000; 0 means 50, as
	// many as curl follows. With a negative number the redirect itself is the answer. A
	// redirect beyond MaxRedirects is an ERROR.
	MaxRedirects int
	// Follow says where to look after the first answer:
	//
	//   - "" or "auto": the answer to a request that starts the operation says where to
	//     look: Azure-AsyncOperation, Operation-Location or, with 201, with 202, or with a
	//     document that reports an unfinished operation, Location; the first that is present
	//     counts. After a PUT or PATCH without any of them, it is the URL itself if the answer
	//     has .properties.provisioningState.
	//   - "none": no request starts anything; each attempt is the same request.
	//   - "self": the start leads to URL itself, by GET, whatever its answer names. What is there
	//     is judged as if nothing had been started.
	//   - an expression of package status/expr: its value in the first good answer is the
	//     URL, relative to the one that gave the answer.
	//   - a URL, or a path, with expressions in braces: "https://host/v1/{.name}". The
	//     values are escaped as their place in the URL requires. Parameters alone,
	//     "?id={.id}", take the place of those of the same name in the URL that gave the
	//     answer.
	Follow string
	// Next says where the next page of a good answer is. All pages of a list are one
	// attempt, of at most 1,000 requests, each made as the first one. With a [Limiter] a page
	// that is refused for load is asked for again, up to ten times:
	//
	//   - "" or "none": nowhere. An answer is one page.
	//   - "auto": where the Link header says, with rel="next" (RFC 8288). An answer without one
	//     whose document names another page, as by .next_page_token, is a failure.
	//   - an expression of package status/expr: its value in a page is the URL or the path
	//     of the next one, which begins with http://, https://, / or ?.
	//   - a URL, a path or parameters, with expressions in braces, as in Follow:
	//     "?page_token={.next}".
	//
	// If a value is null, false, "" or missing, the page is the last one; if it is missing
	// from a document that names another page, that is a failure, too. A page that cannot
	// be read, or that names an earlier one as the next, makes the whole attempt a failure.
	// The answer to a request that starts operations is one page.
	Next string
	// LookupEnv, such as [os.LookupEnv], finds what Follow and Next name $ENV.NAME, which may stand
	// in the query of a URL: the rest of a URL is shown. Nil finds none.
	LookupEnv func(name string) (value string, ok bool)
	// LocationTrusted sends the credentials, and the body after a redirect, to every
	// origin that a redirect or an answer names, even over http.
	LocationTrusted bool
	// Stream asks for a stream, and judges each of its messages as it comes: the data of a server-sent event
	// (text/event-stream), or a JSON document, of application/x-ndjson, of application/json-seq, or of
	// application/json without a length. Any other answer is judged as without Stream. The end of the stream
	// says nothing of the operation: the next attempt comes after a wait, no shorter than its retry field or
	// Retry-After says, and sends the last event's ID. A stream that is silent for a minute, or for three of
	// the heartbeats that it has shown, is ended. A request that starts an operation is sent once, whatever
	// becomes of its stream. The AttemptTimeout holds until the header has come. The wait needs a rule for
	// SUCCESS.
	Stream bool

	// Transport sends the requests; nil means [http.DefaultTransport]. If its [net.Dialer] does not find a
	// name, [net.DefaultResolver] has to confirm that. A dial function of your own that tries several
	// addresses has to return the errors of all of them ([errors.Join]).
	Transport http.RoundTripper
}

// Target returns the scheme, host and path of the URL.
func (h HTTP) Target() string { return request.TargetName(h.URL) }

// Plan returns the plan of the first attempt. Its Invalid holds no secret. For an expression in Follow or Next
// Invalid is or wraps an *expr.Error of package status/expr.
func (h HTTP) Plan() Plan {
	first, err := h.first()
	plan := Plan{Invalid: err}
	if err == nil {
		plan = first.Plan()
	}
	plan.Name, plan.Resume = h.Target(), h.Resume
	return plan
}

// first returns the probe of the first attempt, with a connection of its own.
func (h HTTP) first() (httpProbe, error) {
	o, err := request.NewOperation(request.Request(h))
	if err != nil {
		return httpProbe{}, err
	}
	return httpProbe{o, o.First()}, nil
}

// Resume returns the probe at the [Report.Position] of an earlier run, or that of the first attempt if position is
// nil.
func (h HTTP) Resume(position json.RawMessage) (Probe, error) {
	p, err := h.first()
	if err == nil && position != nil {
		p.position, err = p.Operation.Resume(position)
	}
	return p, err
}

// Check makes the first attempt of a new wait, with a connection of its own. Report.Next has the same connection.
// With the Attempt of a wait, as in a [ProbeFunc], its requests wait for the [Limiter]. An HTTP that starts or
// follows an operation then sends nothing, and its observation is an ERROR, unless the wait continues with
// Report.Next: each attempt would start the operation again. [Wrap] such an HTTP.
func (h HTTP) Check(ctx context.Context, a Attempt) Report {
	first, err := h.first()
	if err == nil && a.limits != nil && !a.limits.continues && first.Continues() {
		err = errNotWrapped
	}
	if err != nil {
		return impossible{err: err}.Check(ctx, a)
	}
	return first.Check(ctx, a)
}

var errNotWrapped = errors.New("a function or another probe makes a request that starts or follows an operation, " +
	"and each attempt would send the request again: put poll.Wrap around the HTTP")

// An httpProbe is an HTTP at a position. The Operation has the connection, with its cookies, validators and renewed
// header, which all probes of a wait share. The Operation locks it, and only the position is a value.
type httpProbe struct {
	*request.Operation
	position request.Position
}

func (p httpProbe) Plan() Plan {
	return Plan{Name: p.position.Name(), Origin: p.position.Origin(), Once: p.position.IsStart(), isHTTP: true, streams: p.Streams(), continues: p.Continues()}
}

// Check makes one attempt.
func (p httpProbe) Check(ctx context.Context, a Attempt) Report {
	var attempt request.Attempt
	if a.limits != nil {
		attempt = a.limits.Attempt
	}
	attempt.Last, attempt.NoCache, attempt.Accept, attempt.Tell = a.LastLook, a.NoCache, a.Accept, a.tell()
	reply := p.Operation.Check(ctx, attempt, p.position)
	r := Report{Observation: reply.Observation, Next: httpProbe{p.Operation, reply.Next}, Position: p.Save(reply.Next)}
	if reply.ResultErr != nil {
		r.Result = impossible{"its resourceLocation", reply.ResultErr}
	} else if reply.Result != nil {
		r.Result = httpProbe{p.Operation, *reply.Result}
	}
	return r
}

// ErrUntrusted is the cause of a failure if the next request would have taken credentials
// from https to http, or a body to another origin. [HTTP.LocationTrusted] allows both.
var ErrUntrusted = request.ErrUntrusted
