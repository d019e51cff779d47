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
// GET, HEAD and OPTIONS check the operation in each attempt. A request by any other method starts the operation. Such a
// start request is sent once. Later attempts request the URL that its response or Follow names. The start request is
// sent again only if it never left this machine, or if the server refused it for load (429, or 503 or 403 with a hint
// such as Retry-After) or for credentials that Refresh has renewed since. It is then sent to the URL to which redirects
// have led it. Redirects that repeat the request (307, 308) are followed until it was sent three times. If they lead to
// another page that does not exist (404, 410), the next attempt requests URL.
//
// An attempt is one request and its redirects. An [http.Transport] is kept from sending a GET, HEAD or OPTIONS more
// than twice, and any other request again. Redirects are followed as browsers follow them (RFC 9110 section 15.4), except for a
// 301 or 302 after a POST, which leaves open whether anything was done. An HTML page at the end of a redirect may be a
// login page: while an operation is followed, such a page is SUCCESS by a condition only.
//
// Credentials stay with the origin (scheme, host and port) of URL. Another origin, which a redirect or a response
// names, gets only the headers Accept*, User-Agent and Content-Type: no Authorization, no cookies, no User, and no
// client certificate of an [http.Transport]. Cookies that a response sets are sent back to its own origin until the end
// of the run, unless Header has a Cookie without values. With credentials, https is never left for http. A body goes
// only to its own origin, or from http to the same host over https.
type HTTP struct {
	// URL is the URL to request, http or https. Its userinfo is sent as basic authentication.
	URL string
	// Method is the HTTP method; "" means GET, or POST if there is a Body.
	Method string
	// Body is sent with each request to URL; nil means no body. Without a Content-Type in Header it is sent as
	// application/x-www-form-urlencoded, like the data of curl.
	Body []byte
	// Header is sent in addition to "Accept: */*" and "User-Agent: poll", or in place of these two. A header without
	// values is not sent. Host sets the request's host. An If-None-Match, even without values, keeps poll from making
	// requests conditional by itself. Header must not be changed during a run.
	Header http.Header
	// Refresh returns header fields that replace the fields of Header with the same names from now on, such as an
	// Authorization that expires, or the signature of the request. It is called before each request, except
	// redirects, with the request that would be sent now. The context of this request is the context of the attempt.
	// After a response of 401 Refresh is called with refused true: if a field is new, the 401 is NOT_READY and not
	// ERROR. An error, which must hold no secret, becomes a remark on the attempt. Fields that are not returned
	// stay unchanged; a field without values is no longer sent. Runs of the same HTTP may call Refresh at once.
	// Nil means that Header holds for the whole run.
	Refresh func(r *http.Request, refused bool) (http.Header, error)
	// User is sent as basic authentication (RFC 7617) in place of the URL's userinfo; nil means no User. An
	// Authorization in Header replaces User and userinfo.
	User *url.Userinfo

	// MaxBody is how many bytes of a response, with all its pages, are kept at most. The rest of the page is read
	// and counted, unless it was decompressed. Zero means 64 MiB.
	MaxBody int64
	// MaxRedirects is how many redirects one attempt follows, at most 1000; 0 means 50, the default of curl. With a
	// negative number the redirect itself is the response. A redirect beyond MaxRedirects is an ERROR.
	MaxRedirects int
	// Follow names the URL of the attempts after the first successful response:
	//
	//   - "" or "auto": the response to a start request names the URL in Azure-AsyncOperation, Operation-Location or
	//     Location; the first of these headers that is present counts. Location counts with 201, with 202, and with a document
	//     that reports an unfinished operation. With 202, Content-Location counts after these three. After a PUT or
	//     PATCH without such a header, URL itself is requested if the response has .properties.provisioningState.
	//   - "none": no request starts anything. Each attempt sends the same request.
	//   - "self": after the start request, URL is requested by GET, whatever the response names. Its responses are
	//     evaluated like responses without a start.
	//   - an expression of package status/expr: its value in the response is the URL, relative to the URL of the
	//     response.
	//   - a URL, or a path, with expressions in braces: "https://host/v1/{.name}". The values are escaped as their
	//     place in the URL requires. Parameters alone, "?id={.id}", replace the parameters of the same names in the
	//     URL of the response.
	Follow string
	// Next names the next page of a successful response. All pages of a list are one attempt, of at most 1,000
	// requests, each with the method and body of the first request. With a [Limiter] a page that is refused for load
	// is requested again, up to ten times:
	//
	//   - "" or "none": a response is one page.
	//   - "auto": the Link header with rel="next" names the page (RFC 8288). A response without such a Link whose
	//     document names another page, as by .next_page_token, is a failure.
	//   - an expression of package status/expr: its value in a page is the URL or the path of the next page, which
	//     begins with http://, https://, / or ?.
	//   - a URL, a path or parameters, with expressions in braces, as in Follow: "?page_token={.next}".
	//
	// If a value is null, false, "" or missing, the page is the last page. If it is missing from a document that
	// names another page, that is a failure, too. A page that cannot be read, or that names an earlier page as the
	// next page, makes the whole attempt a failure. The response to a start request is one page.
	Next string
	// LookupEnv, such as [os.LookupEnv], returns the value of $ENV.NAME in Follow and Next. Such a value may be
	// used only in the query of a URL, since the rest of a URL is shown. With nil no variable has a value.
	LookupEnv func(name string) (value string, ok bool)
	// LocationTrusted sends the credentials, and the body after a redirect, to every origin that a redirect or a
	// response names, even over http.
	LocationTrusted bool
	// Stream requests a stream, and evaluates each message when it comes: the data of a server-sent event
	// (text/event-stream), or a JSON document, of application/x-ndjson, of application/json-seq, or of
	// application/json without a length. Any other response is evaluated as without Stream. The end of the stream
	// means nothing for the operation: the next attempt comes after a wait, at least as long as its retry field or
	// Retry-After, and sends the ID of the last event. A stream that is silent for a minute is ended. A start request is sent once, whatever becomes of its stream. The AttemptTimeout
	// limits the time until the header has come. The wait needs a rule for SUCCESS.
	Stream bool

	// Transport sends the requests; nil means [http.DefaultTransport]. If its [net.Dialer] does not find a
	// name, [net.DefaultResolver] has to confirm that. A dial function of your own that tries several
	// addresses has to return the errors of all of them ([errors.Join]).
	Transport http.RoundTripper
	// Received is called with each response, before its body is read. It must not read the body. Nil means no call.
	Received func(*http.Response)
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

// Credentials returns the parts of the requests that only the origin of URL receives, for the Key of package fleet. Equal
// credentials lead to equal strings. The string is a secret. It is "" without credentials, and if the URL cannot be
// requested.
func (h HTTP) Credentials() string {
	first, err := h.first()
	if err != nil {
		return ""
	}
	return first.Operation.Credentials()
}

// first returns the probe of the first attempt, with a connection of its own.
func (h HTTP) first() (httpProbe, error) {
	o, err := request.NewOperation(request.Request(h))
	if err != nil {
		return httpProbe{}, err
	}
	return httpProbe{o, o.First()}, nil
}

// Resume returns the probe at the [Report.Position] of an earlier run, or the probe of the first attempt if position
// is nil.
func (h HTTP) Resume(position json.RawMessage) (Probe, error) {
	p, err := h.first()
	if err == nil && position != nil {
		p.position, err = p.Operation.Resume(position)
	}
	return p, err
}

// Check sends the request of the first attempt of a new wait, over a connection of its own. Report.Next uses the same connection.
// With the Attempt of a wait, as in a [ProbeFunc], its requests wait for the [Limiter]. An HTTP that starts or
// follows an operation then sends nothing, and its observation is an ERROR, unless the wait continues with
// Report.Next: each attempt would start the operation again. [Wrap] such an HTTP. A probe that leaves out
// Report.Next of a start, or that checks the HTTP twice in one attempt, ends the wait with an ERROR.
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
	return Plan{Name: p.position.Name(), Origin: p.position.Origin(), Once: p.position.IsStart(), isHTTP: true, streams: p.Streams(), continues: p.Continues(), start: p.StartOf(p.position)}
}

// Check makes one attempt.
func (p httpProbe) Check(ctx context.Context, a Attempt) Report {
	var attempt request.Attempt
	if a.limits != nil {
		attempt = a.limits.Attempt
	}
	if a.limits != nil && p.position.IsStart() {
		if _, isSent := a.limits.started.LoadOrStore(p.StartOf(p.position), true); isSent {
			return impossible{err: errNotWrapped}.Check(ctx, a)
		}
	}
	attempt.Last, attempt.NoCache, attempt.Accept, attempt.Tell = a.LastAttempt, a.NoCache, a.Accept, a.message()
	reply := p.Operation.Check(ctx, attempt, p.position)
	if a.limits != nil && reply.Next.IsStart() {
		a.limits.started.Delete(p.StartOf(p.position))
	}
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
