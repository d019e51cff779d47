package poll_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// responding responds to a start with one response, and to other requests with another: "202 /job" names a URL, and
// "200 {}" has a body.
type responding struct{ start, follow string }

func (r responding) RoundTrip(request *http.Request) (*http.Response, error) {
	text := r.follow
	if request.Method == http.MethodPost {
		text = r.start
	}
	code, rest, _ := strings.Cut(text, " ")
	response := &http.Response{Header: make(http.Header), Request: request}
	response.StatusCode, _ = strconv.Atoi(code)
	if strings.HasPrefix(rest, "/") {
		response.Header.Set("Location", rest)
		rest = ""
	}
	response.Body = io.NopCloser(strings.NewReader(rest))
	return response, nil
}

// A failed wait is the end of its operation only if a successful response reports the end, or the start was rejected.
func TestTheEndOfAWaitIsNotTheEndOfItsOperation(t *testing.T) {
	const running, failed, odd = `200 {"state":"running"}`, `200 {"state":"failed"}`, `200 {"state":"stuck"}`
	errorIf := func(condition string) status.Rule {
		rule, err := status.NewRule(status.Error, condition)
		if err != nil {
			t.Fatal(err)
		}
		return rule
	}
	const isOver = true
	for name, test := range map[string]struct {
		start, follow, errorIf string
		edit                   func(*poll.Poller)
		isOver                 bool
	}{
		"the document reports a failure":           {"202 /job", failed, "", nil, isOver},
		"the document reports an error":            {"202 /job", `200 {"error":"no"}`, "", nil, isOver},
		"a rule reads the failure":                 {"202 /job", odd, `.state == "stuck"`, nil, isOver},
		"a rule reads the time, and it failed":     {"202 /job", failed, "$elapsed > 0s", nil, isOver},
		"a rule reads the failure or the time":     {"202 /job", odd, `.state == "stuck" or $elapsed > 1h`, nil, isOver},
		"a rule reads the response to the start":   {"200 {}", "", "$status == 200", nil, isOver},
		"the start is rejected":                    {"400", "", "", nil, isOver},
		"a rule matches a start that is throttled": {"429", "", "$status == 429", nil, isOver},
		"the start is redirected to another origin": {"307 //other.invalid/", "", "", func(p *poll.Poller) {
			h := p.Probe.(poll.HTTP)
			h.Body = []byte("{}")
			p.Probe = h
		}, isOver},
		"the start is redirected to no URL":  {"308", "", "", nil, isOver},
		"the start is redirected in circles": {"307 /", "", "", nil, isOver},
		"a 302, which may name the result":   {"302 /result", "", "", nil, false},
		"403":                                {"202 /job", "403", "", nil, false},
		"403 by a rule":                      {"202 /job", "403", "$status == 403", nil, false},
		"a redirect loop":                    {"202 /job", "302 /job", "", nil, false},
		"a rule reads the time":              {"202 /job", odd, "$elapsed > 0s", nil, false},
		"a rule reads the time, too":         {"202 /job", odd, `.state == "stuck" and $attempt > 2`, nil, false},
		"a rule contradicts":                 {"202 /job", running, `.state == "running"`, nil, false},
		"strict":                             {"202 /job", running, "", func(p *poll.Poller) { p.Rules.Strict = true }, false},
		"no URL to follow":                   {`202 {"id":7}`, "", "", nil, false},
		"no URL, and a state":                {`200 {"state":"done"}`, "", "", nil, false},
		"the start may have failed":          {"500", "", "", nil, false},
		"the start is not successful":        {"200", "", "", func(p *poll.Poller) { p.Rules.Accept = []int{201} }, false},
		"the deadline":                       {"202 /job", running, "", func(p *poll.Poller) { p.Timeout = time.Minute }, false},
		"a start of an earlier run":          {"", "", "", func(p *poll.Poller) { p.Past = &poll.State{Starting: true} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := poll.Poller{Probe: poll.HTTP{URL: "http://job.invalid", Method: http.MethodPost, Transport: responding{test.start, test.follow}}}
				if test.edit != nil {
					p.Rules, _ = status.Until(`.state == "done" and .never`)
					test.edit(&p)
				}
				if test.errorIf != "" {
					p.Rules.Own = append(p.Rules.Own, errorIf(test.errorIf))
				}
				o, _ := p.Run(t.Context())
				isEnded := o.State.Ended()
				if o.Unfinished == test.isOver || isEnded != test.isOver || o.Ending == poll.Succeeded {
					t.Errorf("unfinished %t, ended %t, %s: %s", o.Unfinished, isEnded, o.Ending, o.Reason)
				}
			})
		})
	}
}
