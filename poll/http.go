package poll

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/pollcli/poll/poll/internal/request"
)

// HTTP is a [Probe] that requests a URL. Only the field URL is required.
//
// A GET, HEAD or OPTIONS request checks the operation in each attempt. A request with any other method, such as
// POST, starts the operation. Such a start request is sent only once; later attempts request the URL that its
// response or Follow names. The start request is sent again only in these cases:
//
//   - The request never left this machine.
//   - The server rejected the request because of load: with 429, or with 503 or 403 and a hint such as
//     Retry-After.
//   - The server rejected the credentials, and Refresh has returned new ones.
//
// A repeated request goes to the URL at the end of the redirects. A redirect that repeats the request (307,
// 308) is followed until the request has been sent three times. If redirects led to another page that does not
// exist (404, 410), the next attempt requests URL again.
//
// An attempt consists of one request and its redirects. HTTP prevents an [http.Transport] from sending a GET,
// HEAD or OPTIONS request more than twice, and any other request more than once. It follows redirects as
// browsers do (RFC 9110 section 15.4), except that it does not follow a 301 or 302 response to a POST, because
// such a response does not show whether the server has processed the request. An HTML page after a redirect may
// be a login page. While an operation is followed, such a page is SUCCESS only if a condition matches.
//
// Credentials are sent only to the origin (scheme, host and port) of URL. If a redirect or a response leads to
// another origin, that origin receives only the headers Accept*, User-Agent and Content-Type. It receives no
// Authorization, no cookies, no User, and no client certificate of an [http.Transport]. Cookies from a response
// are returned to the same origin until the end of the run, unless Header has a Cookie field without values. A
// request with credentials never changes from https to http. A body is sent only to its own origin, or to the
// same host when http changes to https.
type HTTP struct {
	// URL is the http or https URL to request. Its userinfo (user:password@) is sent as basic authentication.
	URL string
	// Method is the HTTP method. "" means POST if Body is not nil, and GET otherwise.
	Method string
	// Body is sent with each request to URL; nil means no body. If Header has no Content-Type, the Content-Type
	// is application/x-www-form-urlencoded, as with curl's --data.
	Body []byte
	// Header is sent in addition to "Accept: */*" and "User-Agent: poll", and can replace these two. A field
	// without values is not sent. Host sets the request's host. If Header has an If-None-Match field, even
	// without values, HTTP does not make requests conditional by itself. Header must not be changed during a
	// run.
	Header http.Header
	// Refresh returns new values for header fields, such as an Authorization that expires or a request
	// signature. For all following requests, the returned fields replace the fields of the same names in
	// Header. A field that is not returned keeps its value; a field without values is no longer sent.
	//
	// Refresh is called before each request, except after redirects. Its argument r is the request about to be
	// sent, with the context of the attempt. After a 401 response Refresh is called with refused set to true.
	// If it then returns a new value, the 401 is NOT_READY and not ERROR. If it returns an error, the error is
	// noted with the attempt, so it must not contain a secret.
	//
	// If several runs use the same HTTP, Refresh may be called concurrently. A nil Refresh leaves Header
	// unchanged.
	Refresh func(r *http.Request, refused bool) (http.Header, error)
	// User is sent as basic authentication (RFC 7617) and replaces the URL's userinfo. Nil means that only the
	// URL's userinfo is used. An Authorization field in Header replaces both.
	User *url.Userinfo

	// MaxBody is the maximum number of bytes kept of a response, including all its pages. Bytes beyond the
	// limit are read and counted, except in a compressed response. Zero means 64 MiB.
	MaxBody int64
	// MaxRedirects is the maximum number of redirects to follow in one attempt, at most 1000. 0 means 50, as in
	// curl. A redirect beyond MaxRedirects makes the attempt an ERROR. If MaxRedirects is negative, redirects
	// are not followed, and the redirect itself is the response.
	MaxRedirects int
	// Follow determines the URL to request after the first successful response:
	//
	//   - "" or "auto": after a start request, the URL comes from the first of the response headers
	//     Azure-AsyncOperation, Operation-Location and Location that is present. Location is used with status
	//     201, with 202, and with a document that reports an unfinished operation. With 202, Content-Location
	//     is used if none of the three is present. If the response to a PUT or PATCH has no such header but a
	//     member .properties.provisioningState, URL itself is requested.
	//   - "none": no request is treated as a start request. Each attempt sends the same request.
	//   - "self": after the start request, URL is requested with GET, whatever the response names. The
	//     responses are evaluated as if no operation had been started.
	//   - an expression of package status/expr: the expression's value in the response is the URL, relative to
	//     the URL of the response.
	//   - a URL or a path that contains expressions in braces, such as "https://host/v1/{.name}": the values of
	//     the expressions are inserted, escaped as their position in the URL requires. If there are only query
	//     parameters, as in "?id={.id}", they replace the parameters of the same names in the URL of the
	//     response.
	Follow string
	// Next determines the next page of a successful response. All pages of a list are requested in one attempt,
	// with the method and body of the first request, and with at most 1,000 requests. If a [Limiter] is set,
	// each further page is requested up to ten times, as long as the server rejects the requests because of
	// load. Next is one of:
	//
	//   - "" or "none": a response has only one page.
	//   - "auto": a Link header with rel="next" names the next page (RFC 8288). If there is no such header, but
	//     the document names a next page, for example in .next_page_token, the attempt is a failure.
	//   - an expression of package status/expr: its value in a page is the URL or path of the next page. The
	//     value must start with http://, https://, / or ?.
	//   - a URL, a path or query parameters with expressions in braces, as in Follow: "?page_token={.next}".
	//
	// If a value is null, false, "" or missing, the page is the last page. However, if the value is missing and
	// the document names a next page in another way, the whole attempt is a failure. It is also a failure if a
	// page cannot be read, or names an earlier page as its next page. The response to a start request always
	// has only one page.
	Next string
	// LookupEnv returns the value of $ENV.NAME in Follow and Next. [os.LookupEnv] is such a function. The value
	// may appear only in the query of a URL, because other parts of a URL are shown in messages. If LookupEnv
	// is nil, no variable has a value.
	LookupEnv func(name string) (value string, ok bool)
	// LocationTrusted sends the credentials to every origin that a redirect or a response names, and also the
	// body to the target of a redirect, even over http.
	LocationTrusted bool
	// Stream requests a stream, and evaluates each message as soon as it arrives. A message is the data of a
	// server-sent event (text/event-stream), or one JSON document of a response with the type
	// application/x-ndjson or application/json-seq, or application/json without a length. Any other response is
	// evaluated as if Stream were false. The wait needs a rule for SUCCESS.
	//
	// The end of a stream does not affect the status of the operation. After a wait, which is at least as long
	// as the stream's retry field or Retry-After header requires, the next attempt opens a new stream. It sends
	// the ID of the last event. A stream that is silent for a minute is closed. A start request is sent once,
	// even if its stream breaks. AttemptTimeout limits only the time until the response header arrives.
	Stream bool

	// Transport sends the requests; nil means [http.DefaultTransport]. If the [net.Dialer] of the Transport
	// does not find a host name, [net.DefaultResolver] is used to confirm that the name does not exist. A
	// custom dial function that tries several addresses should return the errors for all of them, joined with
	// [errors.Join].
	Transport http.RoundTripper
	// Received, if not nil, is called with each response before its body is read. It must not read the body.
	Received func(*http.Response)
}

// Target returns the scheme, host and path of h.URL.
func (h HTTP) Target() string { return request.TargetName(h.URL) }

// Plan returns the plan of the first attempt. Plan.Invalid contains no secret. If an expression in Follow or
// Next is invalid, Plan.Invalid is or wraps an *expr.Error of package status/expr.
func (h HTTP) Plan() Plan {
	first, err := h.first()
	plan := Plan{Invalid: err}
	if err == nil {
		plan = first.Plan()
	}
	plan.Name, plan.Resume = h.Target(), h.resume
	return plan
}

// Credentials returns a string that identifies the credentials of h: those parts of the requests that only the
// origin of h.URL receives. It is meant for the Key of package fleet. Equal credentials have equal strings. The
// string is a secret. It is "" if there are no credentials or if h is invalid.
func (h HTTP) Credentials() string {
	first, err := h.first()
	if err != nil {
		return ""
	}
	return first.Operation.Credentials()
}

// first returns the probe of the first attempt. Each call returns a probe with separate connections and
// cookies.
func (h HTTP) first() (httpProbe, error) {
	o, err := request.NewOperation(request.Request(h))
	if err != nil {
		return httpProbe{}, err
	}
	return httpProbe{o, o.First()}, nil
}

// resume returns the probe that continues from position, a [Report.Position] of an earlier run. If position is
// nil, it returns the probe of the first attempt.
func (h HTTP) resume(position json.RawMessage) (Probe, error) {
	p, err := h.first()
	if err == nil && position != nil {
		p.position, err = p.Operation.Resume(position)
	}
	return p, err
}

// Check sends the first request of a new wait. To continue the wait, and to reuse the connection, call Check of
// Report.Next.
//
// If a or ctx comes from a running wait, as in a [ProbeFunc], the requests wait for the [Limiter] of that wait. In
// that case an HTTP that starts or follows an operation must be wrapped by [Wrap]. Otherwise the wait would call
// Check again for each attempt, and so start the operation again. To prevent this, Check then sends no request and
// returns an ERROR. A probe that drops Report.Next of a start request, or checks the HTTP twice in one attempt, ends
// the wait with an ERROR, too.
func (h HTTP) Check(ctx context.Context, a Attempt) Report {
	first, err := h.first()
	a.limits = limitsOf(ctx, a)
	if err == nil && a.limits != nil && !a.limits.continues && first.Continues() {
		err = errNotWrapped
	}
	if err != nil {
		return failingProbe{err: err}.Check(ctx, a)
	}
	return first.Check(ctx, a)
}

// errNotWrapped is the error of an HTTP that would send its start request again in each attempt.
var errNotWrapped = errors.New("a function or another probe makes a request that starts or follows an operation, " +
	"and each attempt would send the request again: put poll.Wrap around the HTTP")

// An httpProbe is the probe of one attempt: an Operation, which all attempts of a wait share, and a position,
// which names the URL to request. The Operation holds the connection, the cookies, the validators and the
// renewed header fields, and protects them with a lock.
type httpProbe struct {
	*request.Operation
	position request.Position
}

func (p httpProbe) Plan() Plan {
	return Plan{Name: p.position.Name(), Origin: p.position.Origin(), Once: p.position.IsStart(), isHTTP: true, streams: p.Streams(), continues: p.Continues(), start: p.StartOf(p.position)}
}

// Check makes one attempt at p.position.
func (p httpProbe) Check(ctx context.Context, a Attempt) Report {
	var attempt request.Attempt
	a.limits = limitsOf(ctx, a)
	if a.limits != nil {
		attempt = a.limits.Attempt
	}
	if a.limits != nil && p.position.IsStart() {
		if _, isSent := a.limits.started.LoadOrStore(p.StartOf(p.position), true); isSent {
			return failingProbe{err: errNotWrapped}.Check(ctx, a)
		}
	}
	attempt.Last, attempt.NoCache, attempt.Accept, attempt.Message = a.LastAttempt, a.NoCache, a.Accept, a.message()
	reply := p.Operation.Check(ctx, attempt, p.position)
	if a.limits != nil && reply.Next.IsStart() {
		a.limits.started.Delete(p.StartOf(p.position))
	}
	r := Report{Observation: reply.Observation, Next: httpProbe{p.Operation, reply.Next}, Position: p.Save(reply.Next)}
	if reply.ResultErr != nil {
		r.Result = failingProbe{"its resourceLocation", reply.ResultErr}
	} else if reply.Result != nil {
		r.Result = httpProbe{p.Operation, *reply.Result}
	}
	return r
}

// ErrUntrusted is the cause of a failure if the next request would have sent credentials from https to http, or
// a body to another origin. [HTTP.LocationTrusted] allows both.
var ErrUntrusted = request.ErrUntrusted
