package request

import (
	"context"
	"net/http"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Attempt is what a run says of the attempt that it has a [Session] make.
type Attempt struct {
	Last    bool          // no other may follow: the whole answer is asked for
	Pace    Pace          // nil = no limiter
	Timeout time.Duration // of each request if Pace is set; waiting for a slot does not count; 0 = none
}

// A Pace spaces the requests of an attempt behind its first.
type Pace interface {
	// Wait waits until a further request may go to a place.
	Wait(ctx context.Context, place string) error
	// Done tells what came of it, and reports whether it was refused for load and may be
	// made again before the deadline.
	Done(place string, o status.Observation) (again bool)
}

// wait waits until a further request may go to a place.
func (a Attempt) wait(ctx context.Context, to place) error {
	if a.Pace == nil {
		return nil
	}
	return a.Pace.Wait(ctx, to.origin())
}

// A call is a request to be made.
type call struct {
	Attempt
	method string
	at     place
	body   []byte
	start  bool    // it starts the operation
	single bool    // no further pages are read, whatever the answer says
	room   int64   // for the body of the answer, in bytes; 0 is MaxBody
	kept   *answer // the answer to confirm, nil for none

	began     time.Time // when the first request of it was sent, or the last if they are paced
	redirects []redirect
}

// An answer is the result of a call and of the redirects it met. Its Observation has no
// Following yet. If it has a Failure, there is no code.
type answer struct {
	status.Observation
	code   int
	asked  call // which it answers
	unsent bool // the request never left
}

// failed is the answer to a call that got none.
func failed(f *status.Failure, asked call) *answer {
	asked.kept = nil
	return &answer{Observation: status.Observation{Kind: status.KindHTTP, Failure: f}, asked: asked}
}

// env returns what an expression can see of an answer.
func (a *answer) env(ctx context.Context) *expr.Env {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable("the answer is longer than what is kept of it")
	}
	return env
}

func isGood(code int) bool { return code >= http.StatusOK && code < http.StatusMultipleChoices }
