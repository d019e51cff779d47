package request

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestConditionsOn(t *testing.T) {
	t.Parallel()
	const now, second, two = "Fri, 20 Nov 2026 12:00:10 GMT", "Fri, 20 Nov 2026 12:00:09 GMT", "Fri, 20 Nov 2026 12:00:08 GMT"
	for _, test := range []struct {
		name   string
		header []string
		want   []string
	}{
		{"both", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + two}, []string{`"a"`, two}},
		{"a second old", []string{"Date: " + now, "Last-Modified: " + second}, []string{}},
		{"two seconds old", []string{"Date: " + now, "Last-Modified: " + two}, []string{"", two}},
		{"from the future", []string{"Date: " + two, "Last-Modified: " + now}, []string{}},
		{"no date at all", []string{`ETag: "a"`, "Last-Modified: soon"}, []string{`"a"`}},
		{"strong and fresh", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + second}, []string{}},
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

// A response with a long body is not kept, so the next request is unconditional.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]string{maxKept: `"a"`, maxKept + 1: ""} {
		var asked string
		server := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("If-None-Match")
			text := io.NopCloser(strings.NewReader(strings.Repeat("x", size)))
			return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"a"`}}, ContentLength: -1, Body: text}, nil
		})
		s := newTestSession(t, Request{URL: "http://h/", Transport: server})
		s.Check(t.Context(), Attempt{})
		if s.Check(t.Context(), Attempt{}); asked != want {
			t.Errorf("after %d bytes: asked with %q, want %q", size, asked, want)
		}
	}
}

// headerOf returns the header in lines of the form "Name: value".
func headerOf(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}
