package request

import (
	"context"

	"net/http"

	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status"
)

// A ledger is a Pace that notes what it is asked, and lets a request pass after a second.
type ledger struct {
	entries []string
	end     error // of every wait
}

func (l *ledger) Wait(_ context.Context, place string) error {
	l.entries = append(l.entries, "wait "+place)
	time.Sleep(time.Second)
	return l.end
}

func (l *ledger) Done(place string, o status.Observation) bool {
	l.entries = append(l.entries, "done "+place)
	return o.Code != nil && *o.Code == http.StatusTooManyRequests
}

func (l *ledger) note(r *http.Request) { l.entries = append(l.entries, r.Method+" "+r.URL.String()) }

// The first look at a result is part of the attempt before, and is spaced; later ones are
// attempts of their own.
func TestPace_result(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pace := &ledger{}
		s := newTestSession(t, Request{URL: "http://a/", Method: http.MethodPut, Transport: serve(func(r *http.Request) reply {
			pace.note(r)
			if r.Method == http.MethodPut {
				return reply{202, "", []string{"Operation-Location: /op"}}
			}
			return replied(`{"status":"Succeeded"}`)
		})})
		a := Attempt{Pace: pace}
		s.Look(t.Context(), a)
		look, what := s.Result(s.Look(t.Context(), a))
		if look == nil {
			t.Fatal("there is no result")
		}
		look(t.Context())
		look(t.Context())
		want := []string{"PUT http://a/", "GET http://a/op", "wait http://a:80", "GET http://a/", "GET http://a/"}
		if diff := cmp.Diff(want, pace.entries); diff != "" {
			t.Errorf("%s (-want +have):\n%s", what, diff)
		}
	})
}
