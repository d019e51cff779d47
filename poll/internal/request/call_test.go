package request

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/pollcli/poll/status"
)

// A ledger is a Pace that notes when it was asked.
type ledger []string

func (l *ledger) Wait(context.Context, string) error {
	*l = append(*l, "wait")
	return nil
}

func (*ledger) Done(string, status.Observation) bool { return false }

// The first look at a result is part of the attempt before, and is spaced; later ones are
// attempts of their own.
func TestPaceOfResults(t *testing.T) {
	t.Parallel()
	var pace ledger
	s := newTestSession(t, Request{URL: "http://a/", Method: http.MethodPut, Transport: serve(func(r *http.Request) reply {
		pace = append(pace, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodPut {
			return reply{202, "", []string{"Operation-Location: /op"}}
		}
		return replied(`{"status":"Succeeded"}`)
	})})
	a := Attempt{Pace: &pace}
	s.Look(t.Context(), a)
	look, _ := s.Result(s.Look(t.Context(), a))
	look(t.Context())
	look(t.Context())
	if want := []string{"PUT /", "GET /op", "wait", "GET /", "GET /"}; !slices.Equal(pace, want) {
		t.Errorf("have %q, want %q", pace, want)
	}
}
