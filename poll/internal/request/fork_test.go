package request

import (
	"net/http"

	"strings"

	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/detail"
)

// forkOf starts a session, and returns it with the fork for an element of what is listed.
func forkOf(t *testing.T, r Request, element string) (s, fork *Session) {
	t.Helper()
	r.FollowEach = true
	s = newTestSession(t, r)
	o := s.Look(t.Context(), Attempt{})
	if start := r.Method == http.MethodPost; o.Failure != nil || !o.Following.Each || o.Following.Start != start || s.StartDue() {
		t.Fatalf("have %+v, %+v", o.Failure, o.Following)
	}
	fork, err := s.Fork([]byte(element))
	if err != nil {
		t.Fatal(err)
	}
	return s, fork
}

func TestFork(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	for name, test := range map[string]struct {
		follow, element string
		trusted         bool
		want            string // the request
		remark          string
	}{
		"a path":           {follow: "/jobs/{.id}", element: `{"id":"a b"}`, want: "GET https://h/jobs/a%20b s3cret sid"},
		"parameters":       {follow: "?id={.id}", element: `{"id":7}`, want: "GET https://h/v1/jobs?key=k&id=7 s3cret sid"},
		"the whole answer": {follow: "/{$json.project}/{.id}", element: `{"id":7,"project":"no"}`, want: "GET https://h/p/7 s3cret sid"},
		"the header":       {follow: "/{$header.X-Group}/{.id}", element: `{"id":7}`, want: "GET https://h/g/7 s3cret sid"},
		"the environment":  {follow: "/{.id}?key={$ENV.KEY}", element: `{"id":7}`, want: "GET https://h/7?key=s3cret s3cret sid"},
		"another origin": {
			follow: ".url", element: `{"url":"https://other/x?token=s3cret"}`, want: "GET https://other/x?token=s3cret  ",
			remark: "credentials are not sent to https://other, which is another origin",
		},
		"another origin that is trusted": {follow: ".url", trusted: true, element: `{"url":"http://other/x"}`, want: "GET http://other/x s3cret "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			_, fork := forkOf(t, Request{
				URL: "https://h/v1/jobs?key=k", Method: "POST", Body: []byte("x"), Follow: test.follow, LocationTrusted: test.trusted,
				Header: http.Header{"Authorization": {secret}}, LookupEnv: func(string) (string, bool) { return secret, true },
				Transport: serve(func(r *http.Request) reply {
					cookie := strings.TrimPrefix(r.Header.Get("Cookie"), "sid=")
					asked = strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), cookie}, " ")
					if r.Body != nil && r.Method == http.MethodGet {
						t.Error("the body is sent again")
					}
					if r.Method == http.MethodGet {
						return replied("{}")
					}
					return replied(`{"project":"p"}`, "X-Group: g", "Set-Cookie: sid=sid; Path=/")
				}),
			}, test.element)
			if fork.StartDue() || fork.Place() != locationOf(t, strings.Fields(test.want)[1]).origin() {
				t.Errorf("start %t, place %s", fork.StartDue(), fork.Place())
			}
			for range 2 {
				o := fork.Look(t.Context(), Attempt{})
				if diff := cmp.Diff(test.want, asked); diff != "" {
					t.Errorf("request (-want +have):\n%s", diff)
				}
				if o.Following.Start || o.Following.Each || o.Following.Monitor != detail.MonitorBuilt {
					t.Errorf("have %+v", o.Following)
				}
				if have := strings.Join(o.Remarks, "\n"); have != test.remark {
					t.Errorf("have remarks %q, want %q", have, test.remark)
				}
				test.remark = "" // it is said once
			}
		})
	}
}

func TestFork_nowhere(t *testing.T) {
	t.Parallel()
	s, _ := forkOf(t, Request{
		URL: "https://h/", Follow: ".url", Header: http.Header{"Authorization": {"s3cret"}},
		Transport: serve(func(*http.Request) reply { return replied("[]") }),
	}, `{"url":"/x"}`)
	for element, want := range map[string]string{
		`{}`:                    ".url is missing",
		`{"url":""}`:            ".url is empty",
		`{"url":[]}`:            ".url is neither text nor a number",
		`{"url":"http://h/x"}`:  "the value of .url leads from https to http",
		`{"url":"ftp://h/x"}`:   "the value of .url is neither http nor https",
		`{"url":"https://[::"}`: "the value of .url is malformed",
	} {
		if fork, err := s.Fork([]byte(element)); fork != nil || err == nil || err.Error() != want {
			t.Errorf("%s: have %v, want %q", element, err, want)
		}
	}
	s = newTestSession(t, Request{URL: "https://h/", Follow: ".url", FollowEach: true})
	if _, err := s.Fork([]byte(`{"url":"/x"}`)); err == nil {
		t.Error("there is a fork before there is an answer")
	}
	for _, follow := range []string{"", "auto", "none"} {
		if _, err := NewSession(Request{URL: "https://h/", Follow: follow, FollowEach: true}); err == nil {
			t.Errorf("%q: is accepted", follow)
		}
	}
}

// A fork that goes on in another run looks at its element, and nothing else.
func TestFork_resumed(t *testing.T) {
	t.Parallel()
	var asked []string
	request := Request{
		URL: "https://h/jobs", Method: "POST", Follow: "/{.id}", FollowEach: true, Next: "auto",
		Transport: serve(func(r *http.Request) reply {
			asked = append(asked, r.Method+" "+r.URL.Path)
			if r.Method == http.MethodPost {
				return replied("[]")
			}
			return replied("[]", "Link: </more>; rel=next")
		}),
	}
	_, fork := forkOf(t, request, `{"id":1}`)
	resumed := newTestSession(t, request)
	if err := resumed.Resume(fork.Save()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Session{fork, resumed} {
		if o := s.Look(t.Context(), Attempt{}); o.Following.Each || o.Following.Monitor != detail.MonitorBuilt || o.Failure != nil {
			t.Errorf("have %+v", o)
		}
	}
	if diff := cmp.Diff([]string{"POST /jobs", "GET /1", "GET /1"}, asked); diff != "" {
		t.Errorf("requests (-want +have):\n%s", diff)
	}
}
