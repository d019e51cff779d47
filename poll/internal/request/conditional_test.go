package request

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
)

func TestConditionsOn(t *testing.T) {
	t.Parallel()
	const now, second, two = "Fri, 20 Nov 2026 12:00:10 GMT", "Fri, 20 Nov 2026 12:00:09 GMT", "Fri, 20 Nov 2026 12:00:08 GMT"
	for _, test := range []struct {
		name   string
		header []string
		want   []string
	}{
		{"nothing", nil, []string{}},
		{"entity tag", []string{`ETag: "a"`}, []string{`"a"`}},
		{"weak entity tag", []string{`ETag: W/"a"`}, []string{`W/"a"`}},
		{"both", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + two}, []string{`"a"`, two}},
		{"a second old", []string{"Date: " + now, "Last-Modified: " + second}, []string{}},
		{"two seconds old", []string{"Date: " + now, "Last-Modified: " + two}, []string{"", two}},
		{"from the future", []string{"Date: " + two, "Last-Modified: " + now}, []string{}},
		{"no Date", []string{`ETag: "a"`, "Last-Modified: " + two}, []string{}},
		{"no date at all", []string{`ETag: "a"`, "Last-Modified: soon"}, []string{`"a"`}},
		{"strong and fresh", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + second}, []string{}},
		{"weak and fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + second}, []string{}},
		{"weak and not fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + two}, []string{`W/"a"`, two}},
	} {
		want := http.Header{}
		for i, value := range test.want {
			if value != "" {
				want.Set([]string{"If-None-Match", "If-Modified-Since"}[i], value)
			}
		}
		if have := conditionsOn(headerOf(test.header...)); !maps.EqualFunc(have, want, slices.Equal) {
			t.Errorf("%s: have %+v, want %+v", test.name, have, want)
		}
	}
}

func FuzzConditionsOn(f *testing.F) {
	f.Add(`W/"a"`, "Fri, 20 Nov 2026 12:00:08 GMT", "Fri, 20 Nov 2026 12:00:10 GMT")
	f.Fuzz(func(t *testing.T, etag, modified, made string) {
		have := conditionsOn(headerOf("ETag: "+etag, "Last-Modified: "+modified, "Date: "+made))
		tag, date := have.Get("If-None-Match"), have.Get("If-Modified-Since")
		if tag != "" && tag != etag || date != "" && date != modified {
			t.Errorf("have %+v of %q and %q", have, etag, modified)
		}
	})
}

// Where answers share a budget, a long one is asked for as a whole each time.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{maxShared: `"a"`, maxShared + 1: ""} {
		var asked string
		server := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("If-None-Match")
			text := io.NopCloser(strings.NewReader(strings.Repeat("x", size)))
			return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"a"`}}, ContentLength: -1, Body: text}, nil
		})
		s, err := NewSession(Request{URL: "http://h/", Transport: server, Bodies: &body.Budget{}})
		if err != nil {
			t.Fatal(err)
		}
		s.Look(t.Context(), Attempt{})
		if s.Look(t.Context(), Attempt{}); asked != want {
			t.Errorf("after %d bytes: asked with %q, want %q", size, asked, want)
		}
	}
}

// The place of a long answer is free again when the next attempt begins.
func TestLookReleases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		size := 2 << 20
		server := roundTrip(func(*http.Request) (*http.Response, error) {
			text := io.NopCloser(strings.NewReader(strings.Repeat("x", size)))
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: text}, nil
		})
		var budget body.Budget
		var sessions [3]*Session
		for i := range sessions {
			sessions[i], _ = NewSession(Request{URL: "http://h/", Transport: server, Bodies: &budget})
		}
		long := func(i int) bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			o := sessions[i].Look(ctx, Attempt{})
			return o.Good()
		}
		if !long(0) || !long(1) || long(2) {
			t.Error("not two places")
		}
		size = 1
		sessions[0].Look(t.Context(), Attempt{})
		size = 2 << 20
		if !long(2) {
			t.Error("the place is not free again")
		}
	})
}

// headerOf reads "Name: value" lines.
func headerOf(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}
