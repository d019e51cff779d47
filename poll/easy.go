package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Get requests url with the default schedule of a [Poller] until the response meets condition, an expression of
// package status/expr such as `.state == "done"`. It returns the body of that response. The first request is
// sent after 100 ms. Without a deadline in ctx, Get waits without limit; a response such as 404 ends the wait.
// The error is an [*Error], or describes a fault in the condition or a truncated response. With an error Get
// also returns the last response, if there was a response.
func Get(ctx context.Context, url, condition string) ([]byte, error) {
	outcome, err := untilMet(ctx, HTTP{URL: url}, condition)
	if err != nil {
		return nil, err
	}
	return outcome.body()
}

// untilMet waits until the response to a request meets condition, and returns the outcome, whatever its ending.
// It returns an error only for a faulty condition.
func untilMet(ctx context.Context, probe HTTP, condition string) (outcome Outcome, err error) {
	p := Poller{Probe: probe}
	if p.Rules, err = status.Until(condition); err == nil {
		outcome, _ = p.Run(ctx) // the outcome has the error
	}
	return outcome, err
}

// body returns the body of the last response, nil without a response. It returns the error of the outcome, or an
// error if the response is truncated or belongs to an earlier run.
func (o Outcome) body() (body []byte, err error) {
	if o.Observation != nil {
		body = o.Observation.Body
	}
	switch err = o.Err(); {
	case err != nil:
	case o.Observation == nil:
		err = errEarlierRun
	case o.Observation.Truncated:
		err = fmt.Errorf("the response has more than the %d bytes that are kept", len(body))
	}
	return body, err
}

// GetJSON is like [Get], and decodes the response with [Decode].
func GetJSON[T any](ctx context.Context, url, condition string) (value T, err error) {
	return decodeMet[T](ctx, HTTP{URL: url}, condition)
}

// Start sends body as JSON to url with a POST, and follows the operation that this request starts, see
// [HTTP.Follow]. It returns the response that meets condition, decoded with [Decode]. A request that may have
// started the operation is not sent again. The errors are the errors of [Get].
func Start[T any](ctx context.Context, url string, body any, condition string) (value T, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return value, fmt.Errorf("encode the body of the start request: %w", err)
	}
	return decodeMet[T](ctx, HTTP{URL: url, Body: text, Header: http.Header{"Content-Type": {"application/json"}}}, condition)
}

// decodeMet waits until the response to a request meets a condition, and decodes the response.
func decodeMet[T any](ctx context.Context, probe HTTP, condition string) (value T, err error) {
	outcome, err := untilMet(ctx, probe, condition)
	if err != nil {
		return value, err
	}
	return Decode[T](outcome)
}

// Decode decodes the JSON document of the response that ended a wait: the body of an HTTP response, the output
// of a command, or an element of a list. It skips a byte order mark. Decode returns the error of a wait that did
// not succeed. It also returns an error for a response that is truncated, or that an earlier run received.
func Decode[T any](o Outcome) (value T, err error) {
	body, err := o.body()
	if err == nil {
		err = json.Unmarshal(expr.NewDoc(body).Bytes(), &value)
	}
	if err != nil && o.Ending == Succeeded {
		err = fmt.Errorf("the response of %s: %w", o.Target, err)
	}
	return value, err
}

// Until calls f until f reports that the operation is done, and returns the value of that call. It waits before
// each call, including the first, with the default schedule of a [Poller], and returns when ctx is done.
// [UntilWith] sets other limits and schedules.
//
// An error of f means that the operation is not ready. A [Permanent] error ends the wait, and a [Throttled]
// error makes the next wait longer. Until returns an [*Error] that wraps the last error of f, with the value of
// the last call.
func Until[T any](ctx context.Context, f func(ctx context.Context) (value T, done bool, err error)) (T, error) {
	return UntilWith(ctx, Poller{}, f)
}

// UntilWith is like [Until] with the schedule and the limits of p. It ignores p.Probe and p.Rules. If p.Past has
// Succeeded, UntilWith returns an error without calling f.
func UntilWith[T any](
	ctx context.Context, p Poller, f func(ctx context.Context) (value T, done bool, err error),
) (T, error) {
	var value T
	p.Rules = status.Rules{}
	p.Probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation {
		var done bool
		var err error
		value, done, err = f(ctx)
		if err == nil && !done {
			err = errNotDone
		}
		return Observe(ctx, nil, err)
	})
	outcome, err := p.Run(ctx)
	if err == nil && outcome.Resumed {
		err = errEarlierRun
	}
	return value, err
}

var (
	errNotDone    = errors.New("not done yet")
	errEarlierRun = errors.New("the wait succeeded in an earlier run, whose value is not known")
)
