package request

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
)

func TestValidatorsOf(t *testing.T) {
	t.Parallel()
	const now, second, two = "Fri, 20 Nov 2026 12:00:10 GMT", "Fri, 20 Nov 2026 12:00:09 GMT", "Fri, 20 Nov 2026 12:00:08 GMT"
	for _, test := range []struct {
		name   string
		header []string
		want   validators
	}{
		{"nothing", nil, validators{}},
		{"entity tag", []string{`ETag: "a"`}, validators{etag: `"a"`}},
		{"weak entity tag", []string{`ETag: W/"a"`}, validators{etag: `W/"a"`}},
		{"both", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + two}, validators{`"a"`, two}},
		{"a second old", []string{"Date: " + now, "Last-Modified: " + second}, validators{}},
		{"two seconds old", []string{"Date: " + now, "Last-Modified: " + two}, validators{lastModified: two}},
		{"from the future", []string{"Date: " + two, "Last-Modified: " + now}, validators{}},
		{"no Date", []string{`ETag: "a"`, "Last-Modified: " + two}, validators{etag: `"a"`}},
		{"no date at all", []string{`ETag: "a"`, "Last-Modified: soon"}, validators{etag: `"a"`}},
		{"strong and fresh", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + second}, validators{etag: `"a"`}},
		{"weak and fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + second}, validators{}},
		{"weak and not fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + two}, validators{`W/"a"`, two}},
		{"of the second", []string{`ETag: "6B00364A-1f"`, "Date: " + now, "Last-Modified: Fri, 20 Nov 2026 12:00:10 GMT"}, validators{}},
	} {
		if have := validatorsOf(headerOf(test.header...)); have != test.want {
			t.Errorf("%s: have %+v, want %+v", test.name, have, test.want)
		}
	}
}

func FuzzValidators(f *testing.F) {
	f.Add(`W/"a"`, "Fri, 20 Nov 2026 12:00:08 GMT", "Fri, 20 Nov 2026 12:00:10 GMT")
	f.Fuzz(func(t *testing.T, etag, modified, date string) {
		have := validatorsOf(headerOf("ETag: "+etag, "Last-Modified: "+modified, "Date: "+date))
		if have.etag != "" && have.etag != etag || have.lastModified != "" && have.lastModified != modified {
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
