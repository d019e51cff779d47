package cli

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAddHeader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		lines []string
		want  http.Header // nil for an error
	}{
		{"value", []string{"X-A: 1", "x-a:2 "}, http.Header{"X-A": {"1", "2"}}},
		{"empty value", []string{"X-A;"}, http.Header{"X-A": {""}}},
		{"not sent", []string{"accept:"}, http.Header{"Accept": nil}},
		{"not sent, blanks", []string{"Accept:  "}, http.Header{"Accept": nil}},
		{"a value wins over not sent", []string{"X-A: 1", "X-A:"}, http.Header{"X-A": {"1"}}},
		{"a value that ends in a semicolon", []string{"X-A: b;"}, http.Header{"X-A": {"b;"}}},
		{"no colon", []string{"X-A"}, nil},
		{"no name", []string{": 1"}, nil},
		{"line break", []string{"X-A: 1\nX-B: 2"}, nil},
	} {
		have := http.Header{}
		var err error
		for _, line := range test.lines {
			if err = addHeader(have, line); err != nil {
				have = nil
				break
			}
		}
		if diff := cmp.Diff(test.want, have); diff != "" {
			t.Errorf("%s: %v (-want +have):\n%s", test.name, err, diff)
		}
	}
}

// Of two polls, one within the other, the inner one kills first: its grace is three
// quarters of the other's.
func TestHurriedGrace(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{100 * time.Millisecond, time.Second, 2 * time.Second, 10 * time.Second, time.Minute} {
		outer, inner := hurriedGrace(grace), hurriedGrace(grace*3/4)
		if outer > 600*time.Millisecond || outer > grace || inner > outer-outer/100 {
			t.Errorf("%v: have %v, and %v within", grace, outer, inner)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		hurry := make(chan struct{})
		close(hurry)
		began := time.Now()
		sooner := hurried(hurry, 2*time.Second)
		_, again := <-sooner
		_, still := <-sooner
		if took := time.Since(began); !again || still || took != 200*time.Millisecond {
			t.Errorf("have %t, then %t after %v; want once more, and the end after 0.2s", again, still, took)
		}
	})
}
