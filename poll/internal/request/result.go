package request

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// errNotNamed means that no place of a result is named.
var errNotNamed = errors.New("is not named")

// Result looks for the result of an operation whose status document said that it is done,
// if that is another document (Azure's API guidelines, "Long-running operations"): at
// resourceLocation; at the Location of the answer to the POST that started it; at the URL
// itself after PUT and PATCH.
//
// The first look is part of the last attempt, and waits for its Pace.
func (s *Session) Result(last status.Observation) (look func(context.Context) status.Observation, what string) {
	if last.Following.Monitor != status.MonitorAzure || s.monitor != status.MonitorAzure {
		return nil, ""
	}
	at, err := s.resultPlace(last)
	if errors.Is(err, errNotNamed) || at.same(s.at) {
		return nil, ""
	}
	what = "follow its resourceLocation"
	if at.url != nil {
		what = "get " + urlName(at.url)
	}
	looked := false
	return func(ctx context.Context) status.Observation {
		got := failed(nil, call{Attempt: s.attempt, method: http.MethodGet, at: at})
		if err != nil {
			got.Failure = fail(status.FailureHopeless, "it "+err.Error(), err)
		} else if !looked && s.attempt.wait(ctx, at) != nil {
			got.Failure = cutOff(ctx, true, 0)
		} else {
			looked = true
			got = s.client.do(ctx, got.asked)
		}
		o := got.Observation
		if got.Failure == nil && len(got.asked.redirects) > 0 {
			o.Doubt = s.doubt(got)
		}
		o.Following.Monitor = status.MonitorResult
		return o
	}, what
}

// resultPlace returns where the result is. A place that is named but unusable is an
// error: the status document is not the result.
func (s *Session) resultPlace(last status.Observation) (place, error) {
	switch reference := resourceLocation(last.Body); {
	case !reference.Exists() || reference.Kind == expr.KindNull || reference.Raw == `""`:
	case reference.Kind != expr.KindString:
		return place{}, errors.New("is no text")
	default:
		return s.client.refer(s.at, reference.Text())
	}
	switch s.client.Method {
	case http.MethodPut, http.MethodPatch:
		return s.client.given, nil
	case http.MethodPost:
		if s.locationErr == nil || errors.Is(s.locationErr, ErrUntrusted) {
			return s.location, s.locationErr
		}
	}
	return place{}, errNotNamed
}

// resourceLocation returns where Azure's status document says that the result is; the
// value may be missing or empty.
func resourceLocation(body []byte) expr.Value {
	if !bytes.Contains(body, []byte("resourceLocation")) {
		return expr.Value{}
	}
	return mustCompile(".resourceLocation").Eval(&expr.Env{Doc: expr.NewDoc(body)}).Value()
}
