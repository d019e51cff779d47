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

// An Attempt has the settings of one attempt.
type Attempt struct {
	Last   bool  // no other attempt may follow, so the request is unconditional
	Accept []int // codes of successful responses, see status.Rules
	Pace   Pace  // limiter of further requests; nil for no limiter
	// Timeout limits the time for a response with its redirects, without the waits for Pace. For a stream it only limits
	// the time to the header. 0 means no limit.
	Timeout time.Duration
	Anew    bool // forget the ID of the last event, so that the server sends earlier events again
	NoCache bool // send Cache-Control: no-cache, so that caches request the response from the origin
	// Tell evaluates a message of a Stream. It returns true if the message decides the wait. With nil, no stream is read.
	Tell func(status.Observation) (enough bool)
}

// A Pace spaces out the requests of an attempt after the first request.
type Pace interface {
	// Wait waits until a further request to origin may be sent, and returns nil. It returns a failure if the request may
	// not be sent before the end of ctx or of the wait.
	Wait(ctx context.Context, origin string) *status.Failure
	// Done passes the response o to the limiter. It returns true if the server rejected the request because of load, and
	// the request may be sent again before the deadline.
	Done(origin string, o status.Observation) (again bool)
}

// wait calls Wait of a.Pace for the origin of to. It returns nil without a Pace.
func (a Attempt) wait(ctx context.Context, to location) *status.Failure {
	if a.Pace == nil {
		return nil
	}
	return a.Pace.Wait(ctx, to.origin())
}

// A call is a request for a layer.
type call struct {
	Attempt
	method string
	at     location
	body   []byte
	start  bool    // the request starts the operation
	single bool    // further pages of the response are not read
	room   int64   // limit of the response body in bytes; 0 means MaxBody
	kept   *answer // kept answer that the server may confirm; nil if the request is unconditional

	began     time.Time  // time of the first request, or with a Pace of the last request
	redirects []redirect // redirects that were followed
}

// An answer is the result of a call and of its redirects. With a Failure, code is 0.
type answer struct {
	seen
	code       int
	asked      call        // the call, after its redirects
	unsent     bool        // the last request was not sent
	conditions http.Header // header fields that make a later request conditional on this answer; nil if it has no validators
}

// A seen is an observation with its HTTP facts. Its field Protocol does not hold these facts yet.
type seen struct {
	status.Observation
	meaning.HTTP
	isConfirmed bool // a 304 has confirmed a kept response: all fields except the hints belong to the kept response
}

// observation returns the observation, with the HTTP facts as its Protocol.
func (s seen) observation() status.Observation {
	s.Protocol = s.HTTP
	return s.Observation
}

// refusedForLoad reports whether the server rejected the request because of load.
func (s *seen) refusedForLoad() bool { return s.RefusedForLoad(&s.Observation) }

// A redirect is a redirect that the client has followed.
type redirect struct {
	code     int
	from, to location
	toGET    bool      // the redirect turned the request into a GET
	start    bool      // the redirected request was the start request
	date     time.Time // Date of the response; zero without a Date
}

// failed returns the answer to a call that has the failure f and no response.
func failed(f *status.Failure, asked call) *answer {
	asked.kept = nil
	return &answer{seen: seen{Observation: status.Observation{Kind: status.KindHTTP, Failure: f, Protocol: meaning.HTTP{}}}, asked: asked}
}

// remark adds a remark to the answer, unless words is "".
func (a *answer) remark(words string) {
	if words != "" {
		a.Remarks = append(slices.Clip(a.Remarks), words)
	}
}

// env returns the variables of the answer for expressions. The document is unreadable if the body was truncated.
func (a *answer) env(ctx context.Context) *expr.Env {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable(a.Gap())
	}
	return env
}

// describe adds the redirects of the call to a: Elsewhere, Moved, Redirect, Started and a remark for each redirect. It does
// nothing without redirects.
func (c *client) describe(a *answer) {
	n := len(a.asked.redirects)
	if n == 0 {
		return
	}
	from, to := a.asked.redirects[0].from, a.asked.redirects[n-1].to
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
	started := make(map[string]time.Time)
	for _, r := range a.asked.redirects {
		if r.start {
			started[r.from.origin()] = r.date
		}
		if a.Failure == nil {
			a.remark(fmt.Sprintf("redirected by %d to %s", r.code, urlName(r.to.url)))
		}
	}
	a.Started = started
}
