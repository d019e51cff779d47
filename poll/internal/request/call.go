package request

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Attempt holds the settings of one attempt, which is one call of [Operation.Check].
type Attempt struct {
	Last   bool  // the wait makes no further attempt, so the request is not conditional
	Accept []int // status codes that count as successful (see status.Rules); nil means 2xx
	Pace   Pace  // spaces out the requests of the attempt; nil if there is no limit
	// Timeout limits the time to receive a complete response, including its redirects. The timeout starts again
	// for each page of a list and, with a Pace, for each redirected request. For a stream, Timeout limits only
	// the time until the header arrives. 0 means no limit.
	Timeout time.Duration
	Anew    bool // discard the last event ID, so that the server resends earlier events of a stream
	NoCache bool // send Cache-Control: no-cache, so that caches forward the request to the origin server
	// Message evaluates one message of a stream, and returns true if the message decides the wait. If Message is nil,
	// the response is not read as a stream.
	Message func(status.Observation) (enough bool)
}

// A Pace spaces out the requests that one attempt sends to an origin, such as redirected requests and further pages.
type Pace interface {
	// Wait waits until the next request to origin may be sent, and returns nil. It returns a failure if no request
	// may be sent before ctx or the whole wait ends.
	Wait(ctx context.Context, origin string) *status.Failure
	// Done passes the response o to the Pace. It returns true if the server rejected the request because of load, and
	// the same request may be sent again before the deadline.
	Done(origin string, o status.Observation) (again bool)
}

// wait waits until a.Pace permits a request to the given location. It returns a failure if a.Pace permits no
// request. If a.Pace is nil, wait returns nil at once.
func (a Attempt) wait(ctx context.Context, to location) *status.Failure {
	if a.Pace == nil {
		return nil
	}
	return a.Pace.Wait(ctx, to.origin)
}

// A call describes a request that one layer passes to the next. The package comment lists the layers.
type call struct {
	Attempt
	method string
	at     location
	body   []byte
	start  bool      // the request starts the operation; see [Operation]
	single bool      // only the first page of a list is read
	room   int64     // largest response body to keep, in bytes; 0 means MaxBody
	kept   *response // earlier response that the server may confirm with a 304; nil if the request is not conditional

	began     time.Time  // time of the first request; with a Pace, time of the latest redirected request
	redirects []redirect // redirects that were followed so far
}

// A response is the result of a call, after redirects were followed. If it has a Failure, code is 0. The HTTP
// facts are kept next to the Observation, so that the layers can change single facts. The method observation
// copies the facts to the field Protocol.
type response struct {
	status.Observation
	meaning.HTTP
	code        int
	call        call        // the call that led to this response, as changed by redirects
	unsent      bool        // the last request has certainly not reached the server
	isConfirmed bool        // a 304 has confirmed an earlier response; except for the server's limits and dates, the fields come from that response
	conditions  http.Header // header fields that make a later request conditional on this response; empty without an ETag or a usable Last-Modified
}

// observation returns a copy of the Observation, with the HTTP facts as its Protocol.
func (a *response) observation() status.Observation {
	o := a.Observation
	o.Protocol = a.HTTP
	return o
}

// refusedForLoad reports whether the server rejected the request because it is overloaded or a rate limit is used up.
func (a *response) refusedForLoad() bool { return a.RefusedForLoad(&a.Observation) }

// A redirect describes one redirect that the client has followed.
type redirect struct {
	code     int
	from, to location
	toGET    bool      // the redirect turned the request into a GET
	start    bool      // the redirected request was the start request
	date     time.Time // Date header of the redirecting response; zero if it has none
}

// failed returns a response with the failure f. next is the call that has failed.
func failed(f *status.Failure, next call) *response {
	next.kept = nil
	return &response{Observation: status.Observation{Kind: status.KindHTTP, Failure: f, Protocol: meaning.HTTP{}}, call: next}
}

// note adds a hint with the given text to the response.
func (a *response) note(text string) { a.hint(status.Hint{Text: text}) }

func (a *response) hint(h status.Hint) { a.Hints = append(slices.Clip(a.Hints), h) }

// env returns the environment for evaluating expressions against the response.
func (a *response) env(ctx context.Context) *expr.Env {
	env := status.Environment(&a.Observation)
	env.Context = ctx
	return env
}

// describe records the redirects that led to a: it sets Elsewhere, Moved, Redirect and Started, and adds one note
// for each redirect. Without redirects, it does nothing.
func (c *client) describe(a *response) {
	n := len(a.call.redirects)
	if n == 0 {
		return
	}
	from, to := a.call.redirects[0].from, a.call.redirects[n-1].to
	first, last := from.url, to.url
	a.Elsewhere = !sameOrigin(first, last) && !upgraded(first, last)
	isWithheld := a.Failure == nil && !to.trusted && c.guards(from)
	a.Moved = isWithheld || from.leavesFor(to)
	if a.Redirect = urlName(last); !a.Elsewhere {
		a.Redirect = strings.TrimPrefix(a.Redirect, last.Scheme+"://"+last.Host)
	}
	if isWithheld {
		a.Redirect += " without the credentials"
	} else if a.Moved && !a.Elsewhere && first.Path == last.Path {
		a.Redirect += " with another query"
	}
	a.Started = make(map[string]time.Time)
	for _, r := range a.call.redirects {
		if r.start {
			a.Started[r.from.origin] = r.date
		}
		if a.Failure == nil {
			a.note(fmt.Sprintf("redirected by %d to %s", r.code, urlName(r.to.url)))
		}
	}
}
