package poll_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
)

// A guard lets in who has the right token.
type guard struct {
	right func() string
	seen  []string
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	token := r.Header.Get("Authorization")
	g.seen = append(g.seen, r.URL.Host+" "+token)
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}
	switch {
	case r.URL.Path == "/elsewhere":
		answer.StatusCode = http.StatusFound
		answer.Header.Set("Location", "https://other.example.com/")
	case r.URL.Host != "api.example.com":
	case token != g.right():
		answer.StatusCode = http.StatusUnauthorized
	case time.Since(bubbleStart()) < 10*time.Second:
		answer.StatusCode = http.StatusAccepted
	}
	return answer, nil
}

// bubbleStart is when time begins in a bubble.
func bubbleStart() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// at returns what is before until some time has passed, and then what is after.
func at(when time.Duration, before, after string) func() string {
	return func() string {
		if time.Since(bubbleStart()) >= when {
			return after
		}
		return before
	}
}

func TestHTTPRefresh(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, path string
		right        func() string                      // what the server wants
		has          func(refused bool) (string, error) // what the caller has; "" for nothing new
		verdicts     string
		seen         string
		said         string
	}{
		"before an attempt": {
			right:    at(5*time.Second, "old", "new"),
			has:      func(bool) (string, error) { return at(5*time.Second, "", "new")(), nil },
			verdicts: "NOT_READY SUCCESS",
			seen:     "api.example.com old, api.example.com new",
		},
		"only after the refusal": {
			right: func() string { return "new" },
			has: func(refused bool) (string, error) {
				if refused {
					return "new", nil
				}
				return "", nil
			},
			verdicts: "NOT_READY SUCCESS",
			seen:     "api.example.com old, api.example.com new",
			said:     "HTTP 401 Unauthorized, and the credentials have been renewed since",
		},
		"nothing new": {
			right:    func() string { return "new" },
			has:      func(bool) (string, error) { return "", nil },
			verdicts: "ERROR",
			seen:     "api.example.com old",
		},
		"not to be had": {
			right:    func() string { return "new" },
			has:      func(bool) (string, error) { return "", errors.New("it is gone") },
			verdicts: "ERROR",
			seen:     "api.example.com old",
			said:     "not all of the header is renewed: it is gone",
		},
		"malformed": {
			right:    func() string { return "old" },
			has:      func(bool) (string, error) { return "a\nb", nil },
			verdicts: "NOT_READY SUCCESS",
			seen:     "api.example.com old, api.example.com old",
		},
		"not for another origin": {
			path:     "/elsewhere",
			has:      func(bool) (string, error) { return "new", nil },
			verdicts: "SUCCESS",
			seen:     "api.example.com new, other.example.com ",
		},
		"a start that was refused is sent again": {
			method: "PUT", // its answer is the result
			right:  func() string { return "new" },
			has: func(refused bool) (string, error) {
				if refused {
					return "new", nil
				}
				return "", nil
			},
			verdicts: "NOT_READY ERROR",
			seen:     "api.example.com old, api.example.com new",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := &guard{right: test.right}
				probe := poll.HTTP{
					URL: "https://api.example.com" + test.path, Method: test.method, Transport: g,
					Header: http.Header{"Authorization": {"old"}},
					Refresh: func(_ context.Context, refused bool) (http.Header, error) {
						token, err := test.has(refused)
						if token == "" {
							return nil, err
						}
						return http.Header{"authorization": {token}}, err
					},
				}
				p := poll.Poller{Probe: probe, Immediate: true, Schedule: backoff.Fixed(10 * time.Second), Timeout: time.Minute}
				var verdicts, said []string
				for e := range p.Events(t.Context()) {
					if e.Kind == poll.EventAttempt {
						verdicts = append(verdicts, string(e.Verdict.Status))
						said = append(said, e.Verdict.Reason, strings.Join(e.Verdict.Notes, "; "))
					}
				}
				if diff := cmp.Diff(test.verdicts, strings.Join(verdicts, " ")); diff != "" {
					t.Errorf("verdicts (-want +have):\n%s", diff)
				}
				if diff := cmp.Diff(test.seen, strings.Join(g.seen, ", ")); diff != "" {
					t.Errorf("requests (-want +have):\n%s", diff)
				}
				if all := strings.Join(said, "\n"); !strings.Contains(all, test.said) {
					t.Errorf("have %q, want %q", all, test.said)
				}
			})
		})
	}
}
