package request

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A reply is the response of a server: a code, a body, and the lines of a header.
type reply struct {
	code   int
	text   string
	header []string
}

func replied(text string, header ...string) reply { return reply{http.StatusOK, text, header} }

// serve returns a transport whose responses are the replies of answer.
func serve(answer func(*http.Request) reply) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		a := answer(r)
		return &http.Response{
			StatusCode: a.code, Header: headerOf(a.header...), ContentLength: -1, Request: r,
			Body: io.NopCloser(strings.NewReader(a.text)),
		}, nil
	})
}

// A session makes the attempts of an operation, one after the other.
type session struct {
	*Operation
	at Position
}

func newTestSession(t testing.TB, r Request) *session {
	t.Helper()
	o := must(NewOperation(r))
	return &session{o, o.First()}
}

func (s *session) Check(ctx context.Context, a Attempt) status.Observation {
	r := s.Operation.Check(ctx, a, s.at)
	s.at = r.Next
	return r.Observation
}

func TestParsePager(t *testing.T) {
	for source, want := range map[string]string{
		"": "", "none": "", "auto": "", ".next": "", "next": "", "$header.X-Next": "", ".a // .b": "",
		"https://h/{.next}": "", "/jobs?after={.next}": "", "?after={.next}&key={$ENV.KEY}": "",
		"true":                       "true names no URL: write none or auto",
		"?page=2":                    "the same on every page",
		"?key={$ENV.KEY}":            "the same on every page",
		"/jobs?after={.next":         "is not closed",
		`"2"`:                        "the same on every page",
		".url + $ENV.KEY":            "",
		"?after={.next}{":            "is not closed",
		"/{$ENV.KEY}?after={.next}":  "only allowed in the query",
		"?after={.next==}":           "in braces: ",
		"https://h:x/?after={.next}": "malformed URL",
	} {
		p, err := parsePager(source, expr.WithEnviron(func(string) (string, bool) { return "s3cret", true }))
		switch {
		case source == ".url + $ENV.KEY": // whatever the language says of it
			if err == nil {
				t.Errorf("%s is accepted", source)
			}
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: have error %v, want %q", source, err, want)
		case want == "" && (p != nil) != (source != "" && source != "none"):
			t.Errorf("%q: pages %t", source, p != nil)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error says a secret: %v", source, err)
		}
	}
}

// A list has at most 1,000 pages.
func TestTooManyPages(t *testing.T) {
	for pages, want := range map[int]string{
		1000: "",
		1001: "the page names another page, but poll reads at most 1000: request longer pages, or fewer elements",
	} {
		asked := 0
		s := newTestSession(t, Request{URL: "http://h/?n=1", Next: ".next", Transport: serve(func(*http.Request) reply {
			if asked++; asked == pages {
				return replied("{}")
			}
			return replied(fmt.Sprintf(`{"next":"?n=%d"}`, asked+1))
		})})
		o := s.Check(t.Context(), Attempt{})
		if have := reason(o); have != want || asked != 1000 {
			t.Errorf("%d pages: %d are asked for, %q", pages, asked, have)
		}
		if want != "" && (o.Page != 1000 || o.Failure.Kind != status.FailureHopeless || o.Code != nil) {
			t.Errorf("have %+v of page %d", o.Failure, o.Page)
		}
		if want == "" && len(o.Pages) != 999 {
			t.Errorf("%d further pages", len(o.Pages))
		}
	}
}

func reason(o status.Observation) string {
	if o.Failure == nil {
		return ""
	}
	return o.Failure.Reason
}

// The hints and quotas of all pages count for the whole attempt.
func TestPagesHint(t *testing.T) {
	headers := map[string][]string{
		"":     {"Link: <?2>; rel=next", "Retry-After: 3", "X-RateLimit-Remaining: 60", "X-RateLimit-Reset: 60", "X: first"},
		"2":    {"Link: <?3>; rel=next", "Retry-After: 9", "X-RateLimit-Remaining: 58", "X-RateLimit-Reset: 50"},
		"3":    {"Retry-After: 2", "X: last"},
		"last": nil,
	}
	s := newTestSession(t, Request{URL: "http://h/", Next: "auto", Transport: serve(func(r *http.Request) reply {
		return replied(`{"n":"`+r.URL.RawQuery+`"}`, headers[r.URL.RawQuery]...)
	})})
	o := s.Check(t.Context(), Attempt{})
	if o.Failure != nil || len(o.Pages) != 2 {
		t.Fatalf("have %v with %d further pages", o.Failure, len(o.Pages))
	}
	if o.RetryAfter == nil || o.RetryAfter.Wait.Seconds() != 9 {
		t.Errorf("have the hint %v", o.RetryAfter)
	}
	want := &status.Quota{Remaining: 58, Reset: 50e9}
	if diff := cmp.Diff(want, o.Quota); diff != "" {
		t.Errorf("quota (-want +have):\n%s", diff)
	}
	if o.Size != int64(len(`{"n":""}{"n":"2"}{"n":"3"}`)) || o.Header.Get("X") != "first" {
		t.Errorf("have size %d and header %v", o.Size, o.Header)
	}
}

// The first attempt has a doubt if the first page lacks the value that names the next page. Later attempts have no doubt.
func TestPagesMissing(t *testing.T) {
	for _, test := range []struct{ next, page, want string }{
		{"?c={.nxt}", `{"after":"a"}`, "no next page: .nxt is missing"},
		{".nxt", `{"after":"/a"}`, "no next page: .nxt is missing"},
		{".after", `{"after":null,"next":"/a"}`, ""},
		{".next", `{"next":null}`, ""},
		{".next", `{"next":""}`, ""},
		{"auto", `{}`, ""},
		{"?c={.a.b}", `{"a":{}}`, "no next page: .a.b is missing"},
	} {
		s := newTestSession(t, Request{URL: "http://h/", Next: test.next, Transport: serve(func(r *http.Request) reply { return replied(test.page) })})
		o := s.Check(t.Context(), Attempt{})
		if have := o.Doubt; have != test.want || o.Failure != nil {
			t.Errorf("%s of %s: have %s, want %s, %v", test.next, test.page, have, test.want, o.Failure)
		}
		if again := s.Check(t.Context(), Attempt{}); again.Doubt != "" {
			t.Errorf("%s of %s: the doubt is repeated: %s", test.next, test.page, again.Doubt)
		}
	}
	pages := 2 // and then the list becomes shorter
	s := newTestSession(t, Request{URL: "http://h/", Next: ".next", Transport: serve(func(r *http.Request) reply {
		if pages == 2 && r.URL.RawQuery == "" {
			return replied(`{"next":"?2"}`)
		}
		return replied("{}")
	})})
	for _, pages = range []int{2, 1} {
		if o := s.Check(t.Context(), Attempt{}); len(o.Hints) > 0 {
			t.Errorf("%d pages: %v", pages, o.Hints)
		}
	}
}

// A server cannot make the URLs of pages grow without end.
func TestPages_longURL(t *testing.T) {
	requests := 0
	s := newTestSession(t, Request{URL: "http://h/", Next: "auto", Transport: serve(func(r *http.Request) reply {
		requests++
		return replied("[]", "Link: <"+strings.Repeat("x", 1000)+"/>; rel=next")
	})})
	o := s.Check(t.Context(), Attempt{})
	if want := "its Link to the next page is longer than 16384 bytes"; reason(o) != want || requests != 16<<10/1001+1 {
		t.Errorf("after %d requests: have %q, want %q", requests, reason(o), want)
	}
}

// For every Link header, the credentials stay with their origin, and the attempt ends.
func FuzzPages(f *testing.F) {
	for _, link := range []string{
		`<?page=2>; rel="next"`, `<https://evil.example/>; rel=next`, `<http://h/>; rel=next`, `<//evil.example/>; rel="prev next"`,
		`<https://h:443/2>; title=", <"; rel=next`, `<https://h@evil.example/>; rel=next`, `<\\evil.example/x>; rel=next`, `<%>; rel=next, <`,
	} {
		f.Add(link, `</3>; rel="next"`)
	}
	f.Fuzz(func(t *testing.T, link, other string) {
		requests := 0
		s := newTestSession(t, Request{
			URL: "https://h/list", Next: "auto", Header: http.Header{"Authorization": {"s3cret"}, "Cookie": {"s3cret"}},
			Transport: serve(func(r *http.Request) reply {
				origin := connect.Origin(r.URL)
				if (r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "") && origin != "https://h:443" {
					t.Errorf("%q and %q: credentials are sent to %s", link, other, r.URL)
				}
				if requests++; requests%2 == 0 {
					link, other = other, link
				}
				return replied(fmt.Sprintf("[%d]", requests), "Link: "+link)
			}),
		})
		o := s.Check(t.Context(), Attempt{})
		if requests > maxPages || o.Failure == nil && len(o.Pages) != requests-1 {
			t.Errorf("%q and %q: %d requests, %d further pages, %v", link, other, requests, len(o.Pages), o.Failure)
		}
		if strings.Contains(reason(o)+fmt.Sprint(o.Hints), "s3cret") {
			t.Errorf("%q and %q: a secret is said", link, other)
		}
	})
}
