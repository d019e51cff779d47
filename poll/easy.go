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

// Get requests url until the response meets condition, and returns the body of that response. The condition is
// an expression of package status/expr, such as `.state == "done"`. Get sends the first request after 100 ms,
// and uses the default schedule of a [Poller].
//
// Get stops when ctx is done; if ctx has no deadline, Get may wait forever. A response such as 404 also ends
// the wait. The returned error is an [*Error], unless the condition is invalid or the response is truncated. If
// Get returns an error, the body is the body of the last response, or nil without a response.
func Get(ctx context.Context, url, condition string) ([]byte, error) {
	outcome, err := untilMet(ctx, HTTP{URL: url}, condition)
	if err != nil {
		return nil, err
	}
	return outcome.body()
}

// untilMet waits until a response to probe meets condition. It returns the outcome even if the wait failed. The
// error is nil unless the condition is invalid.
func untilMet(ctx context.Context, probe HTTP, condition string) (outcome Outcome, err error) {
	p := Poller{Probe: probe}
	if p.Rules, err = status.Until(condition); err == nil {
		outcome, _ = p.Run(ctx) // the outcome holds the error, too
	}
	return outcome, err
}

// body returns the body of the last response, or nil if no response was received. The error is the outcome's
// error. If the outcome has no error, body returns an error if the body is truncated, or if an earlier run
// received the response.
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

// GetJSON is like [Get], but decodes the JSON of the response with [Decode].
func GetJSON[T any](ctx context.Context, url, condition string) (value T, err error) {
	return decodeMet[T](ctx, HTTP{URL: url}, condition)
}

// Start starts an operation, waits for its end, and returns the decoded result. It sends body as JSON to url
// with a POST request. It then requests the URL that the response names (see [HTTP.Follow]) until a response
// meets condition, and decodes that response with [Decode].
//
// Start does not repeat a request that may have started the operation. It returns the same errors as [GetJSON],
// and an error if body cannot be encoded.
func Start[T any](ctx context.Context, url string, body any, condition string) (value T, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return value, fmt.Errorf("encode the body of the start request: %w", err)
	}
	return decodeMet[T](ctx, HTTP{URL: url, Body: text, Header: http.Header{"Content-Type": {"application/json"}}}, condition)
}

// decodeMet waits until a response to probe meets condition, and decodes that response with [Decode].
func decodeMet[T any](ctx context.Context, probe HTTP, condition string) (value T, err error) {
	outcome, err := untilMet(ctx, probe, condition)
	if err != nil {
		return value, err
	}
	return Decode[T](outcome)
}

// Decode decodes the JSON document that ended a wait: the body of an HTTP response, the output of a command, or
// one element of a list. It skips a leading byte order mark.
//
// If the wait did not succeed, Decode returns the error of the wait. It also returns an error if the document
// is truncated, or if an earlier run received the document.
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

// Until calls f repeatedly until f reports done, and returns the value from that call. It waits before every
// call, including the first, with the default schedule of a [Poller]. It returns early when ctx is done. Use
// [UntilWith] for other limits and schedules.
//
// If f returns an error, Until calls f again later. There are two special errors: a [Permanent] error ends the
// wait, and a [Throttled] error makes the next wait longer. If the wait does not succeed, Until returns the
// value from the last call, and an [*Error] that wraps the last error of f.
func Until[T any](ctx context.Context, f func(ctx context.Context) (value T, done bool, err error)) (T, error) {
	return UntilWith(ctx, Poller{}, f)
}

// UntilWith is like [Until], but uses the schedule and the limits of p. It ignores p.Probe and p.Rules. If
// p.Past is the state of a wait that has ended, UntilWith does not call f. It then returns an error, because
// the value from the earlier run is not known.
func UntilWith[T any](
	ctx context.Context, p Poller, f func(ctx context.Context) (value T, done bool, err error),
) (T, error) {
	var value T
	p.Rules = status.Rules{}
	p.Probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation {
		v, done, err := f(ctx)
		value = v
		if err == nil && !done {
			err = errNotDone
		}
		return Observe(ctx, nil, err)
	})
	if f == nil {
		p.Probe = nil
	}
	outcome, err := p.Run(ctx)
	if err == nil && outcome.Resumed {
		err = errEarlierRun
	}
	return value, err
}

var (
	errNotDone    = errors.New("not done yet")
	errEarlierRun = errors.New("the wait succeeded in an earlier run, which kept no value")
)
