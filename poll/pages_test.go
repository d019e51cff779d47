package poll_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A library has a list on so many pages, of which a token bucket allows some, and the third is
// slow to come.
type library struct {
	pages, burst    int
	perSecond, left float64
	header, slow    string
	began, filled   time.Time
	asked           []string // when, and with what answer
}

func (l *library) RoundTrip(r *http.Request) (*http.Response, error) {
	page := 1
	fmt.Sscanf(r.URL.RawQuery, "page=%d", &page)
	now := time.Now()
	if l.filled.IsZero() {
		l.began, l.filled, l.left = now, now, float64(l.burst)
	}
	l.left = min(float64(l.burst), l.left+now.Sub(l.filled).Seconds()*l.perSecond)
	l.filled = now
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r}
	body := fmt.Sprintf(`{"jobs":[{"id":%d,"state":"done"}]}`, page)
	if page < l.pages {
		resp.Header.Set("Link", fmt.Sprintf(`</jobs?page=%d>; rel="next"`, page+1))
	}
	switch {
	case l.left < 1:
		resp.StatusCode, body = 429, "{}"
		if l.header != "" {
			resp.Header = http.Header{"Retry-After": {l.header}}
		}
	case page == 3 && l.slow != "":
		d, _ := time.ParseDuration(l.slow)
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		fallthrough
	default:
		l.left--
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	l.asked = append(l.asked, fmt.Sprintf("%v page %d: %d", now.Sub(l.began).Round(time.Millisecond), page, resp.StatusCode))
	return resp, nil
}

// look waits for one look at all pages, in a bubble.
func (l *library) look(t *testing.T, limiter poll.Limiter, g poll.Group, attempt time.Duration) (asked string, summary poll.Summary) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		each, err := expr.CompileEach(".jobs")
		if err != nil {
			t.Fatal(err)
		}
		g.Limiter = limiter
		p := poll.Poller{
			Probe: poll.HTTP{URL: "http://h/jobs", Next: "auto", Transport: l}, Target: "jobs", Immediate: true, AttemptTimeout: attempt,
			Elements: &poll.Elements{Each: each, Expect: l.pages}, Schedule: backoff.Fixed(time.Second),
			Rules: status.Rules{Own: []status.Rule{rule(t, status.Success, `.state=="done"`)}},
		}
		for ev := range g.Events(context.Background(), slices.Values([]poll.Poller{p})) {
			if ev.Kind == poll.EventGoal {
				summary = *ev.Summary
			}
		}
	})
	return strings.Join(l.asked, "\n"), summary
}

// Every page takes a slot, and what it waits for that is no time of the attempt.
func TestPagesArePaced(t *testing.T) {
	t.Parallel()
	l := &library{pages: 5, burst: 100}
	asked, summary := l.look(t, &poll.Pacer{PerSecond: 2}, poll.Group{Timeout: time.Minute}, time.Second)
	if want := "0s page 1: 200\n500ms page 2: 200\n1s page 3: 200\n1.5s page 4: 200\n2s page 5: 200"; asked != want || summary.Ending != poll.Succeeded {
		t.Errorf("%v, asked\n%s\nwant\n%s", summary.Ending, asked, want)
	}
}

// A page that is refused is asked for again after the wait, and the look goes on there.
func TestPageIsRefused(t *testing.T) {
	t.Parallel()
	l := &library{pages: 4, burst: 2, perSecond: 1, header: "3"}
	asked, summary := l.look(t, &poll.Pacer{PerSecond: 10, Rand: rand.New(zeros{})}, poll.Group{Timeout: time.Minute}, time.Second)
	want := "0s page 1: 200\n100ms page 2: 200\n200ms page 3: 429\n3.2s page 3: 200\n4.2s page 4: 200"
	if asked != want || summary.Ending != poll.Succeeded || summary.Attempts != 1 {
		t.Errorf("%v, asked\n%s\nwant\n%s", summary.Ending, asked, want)
	}
}

// What does not fit before the deadline is not waited for.
func TestPageIsRefusedBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	l := &library{pages: 4, burst: 2, header: "3600"}
	asked, summary := l.look(t, &poll.Pacer{PerSecond: 10}, poll.Group{Timeout: time.Minute}, time.Second)
	if want := "0s page 1: 200\n100ms page 2: 200\n200ms page 3: 429"; asked != want || summary.Ending != poll.HintTooLong {
		t.Errorf("%v, asked\n%s\nwant\n%s", summary.Ending, asked, want)
	}
	l = &library{pages: 4, burst: 100}
	asked, summary = l.look(t, &poll.Pacer{PerSecond: 0.5}, poll.Group{Timeout: 5 * time.Second}, time.Second)
	if want := "0s page 1: 200\n2s page 2: 200\n4s page 3: 200"; asked != want || summary.Ending != poll.TimedOut || summary.Elapsed != 5*time.Second {
		t.Errorf("%v after %v, asked\n%s\nwant\n%s", summary.Ending, summary.Elapsed, asked, want)
	}
}

// A page that takes too long ends the attempt, and one that is always refused does, too.
func TestPageFails(t *testing.T) {
	t.Parallel()
	l := &library{pages: 3, burst: 100, slow: "2s"}
	asked, summary := l.look(t, &poll.Pacer{PerSecond: 10}, poll.Group{Timeout: 4 * time.Second}, time.Second)
	if want := "0s page 1: 200\n100ms page 2: 200\n2.2s page 1: 200"; !strings.HasPrefix(asked, want) || summary.Ending != poll.TimedOut {
		t.Errorf("%v, asked\n%s\nwant\n%s", summary.Ending, asked, want)
	}
	l = &library{pages: 3, burst: 2}
	asked, _ = l.look(t, &poll.Pacer{PerSecond: 100}, poll.Group{Timeout: time.Hour}, time.Second)
	if have := strings.Count(asked, "page 3: 429"); have != 10 || !strings.Contains(asked, "page 1: 429") {
		t.Errorf("asked %d times\n%s", have, asked)
	}
}

// A redirect takes a slot, too, and what it waits for that is no time of the attempt; the
// deadline ends that wait.
func TestRedirectsArePaced(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]string{
		time.Minute:            "0s http://h/, 500ms http://h/x, 1s http://h/xx; succeeded after 1",
		700 * time.Millisecond: "0s http://h/, 500ms http://h/x; timed out after 1",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var asked []string
			transport := roundTrip(func(r *http.Request) *http.Response {
				asked = append(asked, fmt.Sprint(time.Since(began), " ", r.URL))
				answer := &http.Response{StatusCode: 302, Header: http.Header{"Location": {r.URL.Path + "x"}}, Body: http.NoBody}
				if r.URL.Path == "/xx" {
					answer.StatusCode = 200
				}
				return answer
			})
			p := poll.Poller{
				Probe: poll.HTTP{URL: "http://h/", Transport: transport}, Immediate: true,
				AttemptTimeout: 800 * time.Millisecond, Limiter: &poll.Pacer{PerSecond: 2}, Timeout: timeout,
			}
			o, _ := p.Run(t.Context())
			if have := fmt.Sprintf("%s; %s after %d", strings.Join(asked, ", "), o.Ending, o.State.Attempts); have != want {
				t.Errorf("have %s, want %s", have, want)
			}
		})
	}
}
