package ratelimit

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

var adviceNow = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// headerOf returns the header in lines of the form "Name: value".
func headerOf(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}

// A response is an observation with the facts of its protocol.
type response struct {
	status.Observation
	meaning.HTTP
}

// read returns the response after Read.
func read(code int, header http.Header, body []byte) (o response) {
	o.Observation = status.Observation{Code: &code, Header: header, Body: body, Protocol: meaning.HTTP{}}
	Read(&o.Observation, &o.HTTP, adviceNow)
	return o
}

func TestRead(t *testing.T) {
	const never = -1
	for _, test := range []struct {
		name   string
		code   int
		header []string
		body   string
		wait   time.Duration // never for no hint
		source string
		note   string // contained in the only note, "" for none
	}{
		{name: "seconds", code: 503, header: []string{"Retry-After: 120"}, wait: 2 * time.Minute, source: "Retry-After"},
		{name: "zero and what remains", code: 429, header: []string{"Retry-After: 0", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 60"},
			wait: time.Minute, source: "X-RateLimit-Reset"},
		{name: "a year", code: 503, header: []string{"Retry-After: 31536000"}, wait: longestWait, source: "Retry-After"},
		{name: "more than a year", code: 503, header: []string{"Retry-After: 31536001"}, wait: longestWait, source: "Retry-After"},
		{name: "20 digits", code: 503, header: []string{"Retry-After: 99999999999999999999"}, wait: longestWait, source: "Retry-After"},
		{name: "400 digits", code: 503, header: []string{"Retry-After: " + strings.Repeat("9", 400)}, wait: longestWait, source: "Retry-After"},
		{name: "a date in ten years", code: 503, header: []string{"Retry-After: Fri, 20 Nov 2036 12:00:00 GMT"}, wait: never, note: "Retry-After ignored: not a wait of at most a year"},
		{name: "an exponent", code: 503, header: []string{"Retry-After: 1e9"}, wait: longestWait, source: "Retry-After"},
		{name: "an exponent alone", code: 503, header: []string{"Retry-After: e9"}, wait: never, note: "Retry-After ignored: not a wait of at most a year"},
		{name: "infinite", code: 503, header: []string{"Retry-After: Inf"}, wait: never, note: "Retry-After ignored: not a wait of at most a year"},
		{name: "a date now", code: 503, header: []string{"Retry-After: Fri, 20 Nov 2026 12:00:00 GMT"}, wait: never},
		{name: "RFC 850", code: 503, header: []string{"Retry-After: Friday, 20-Nov-26 12:00:09 GMT"}, wait: 9 * time.Second, source: "Retry-After"},
		{name: "asctime", code: 503, header: []string{"Retry-After: Fri Nov 20 12:00:09 2026"}, wait: 9 * time.Second, source: "Retry-After"},
		{name: "the server's clock", code: 503, header: []string{
			"Date: Fri, 20 Nov 2026 09:00:00 GMT", "Retry-After: Fri, 20 Nov 2026 09:00:09 GMT",
		}, wait: 9 * time.Second, source: "Retry-After"},
		{name: "a cache's clock", code: 503, header: []string{
			"Date: Fri, 20 Nov 2026 08:00:00 GMT", "Age: 3600", "Retry-After: Fri, 20 Nov 2026 09:00:09 GMT",
		}, wait: 9 * time.Second, source: "Retry-After"},
		{name: "a clock of 1970", code: 503, header: []string{
			"Date: Thu, 01 Jan 1970 00:00:00 GMT", "Retry-After: Fri, 20 Nov 2026 12:00:09 GMT",
		}, wait: 9 * time.Second, source: "Retry-After"},
		{name: "several fields", code: 429, header: []string{"Retry-After: 1", "Retry-After: 60", "Retry-After: Fri, 20 Nov 2026 12:00:09 GMT"},
			wait: time.Minute, source: "Retry-After"},
		{name: "junk in one of several fields", code: 429, header: []string{"Retry-After: soon", "Retry-After: 60"},
			wait: time.Minute, source: "Retry-After", note: "Retry-After ignored"},
		{name: "junk falls back", code: 503, header: []string{"Retry-After-Ms: soon", "Retry-After: 4"},
			wait: 4 * time.Second, source: "Retry-After", note: "Retry-After-Ms ignored: not a wait of at most a year"},
		{name: "OpenAI", code: 200, header: []string{"Openai-Poll-After-Ms: 1200"}, wait: 1200 * time.Millisecond, source: "openai-poll-after-ms"},
		{name: "Amazon", code: 503, header: []string{"X-Amz-Retry-After: 1500"}, wait: 1500 * time.Millisecond, source: "x-amz-retry-after"},
		{name: "RateLimit in several lines", code: 429, header: []string{`RateLimit: "a";r=0;t=5`, `RateLimit: "b";r=0;t=50`, `RateLimit: "c";r=1;t=500`},
			wait: 50 * time.Second, source: "RateLimit"},
		{name: "RateLimit by token", code: 429, header: []string{`RateLimit: default;r=0;t=5`}, wait: 5 * time.Second, source: "RateLimit"},
		{name: "RateLimit without r", code: 429, header: []string{`RateLimit: "a";t=5`}, wait: never, note: "RateLimit ignored: malformed"},
		{name: "RateLimit with an inner list", code: 429, header: []string{`RateLimit: ("a");r=0;t=5`}, wait: never, note: "RateLimit ignored: malformed"},
		{name: "RateLimit before X-RateLimit", code: 429, header: []string{`RateLimit: "a";r=0;t=5`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 50"},
			wait: 5 * time.Second, source: "RateLimit"},
		{name: "GitHub's epoch", code: 403, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1795176060"}, wait: time.Minute, source: "X-RateLimit-Reset"},
		{name: "epoch in ms", code: 429, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1795176001500"}, wait: 1500 * time.Millisecond, source: "X-RateLimit-Reset"},
		{name: "epoch of the past", code: 429, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1795175999"}, wait: never, note: "X-RateLimit-Reset ignored: not a wait of at most a year"},
		{name: "epoch in ns", code: 429, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1795176060000000000"}, wait: time.Minute, source: "X-RateLimit-Reset"},
		{name: "RFC 3339", code: 429, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-11-20T13:00:30+01:00"}, wait: 30 * time.Second, source: "X-RateLimit-Reset"},
		{name: "reset without remaining in a 200", code: 200, header: []string{"X-RateLimit-Reset: 30"}, wait: never},
		{name: "reset without remaining in a 429", code: 429, header: []string{"X-RateLimit-Reset: 30"}, wait: 30 * time.Second, source: "X-RateLimit-Reset"},
		{name: "remaining that is junk", code: 200, header: []string{"X-RateLimit-Remaining: few", "X-RateLimit-Reset: 30"}, wait: never, note: "X-RateLimit-Remaining ignored"},
		{name: "secondary limit in a 429", code: 429, body: "a Secondary Rate Limit", wait: time.Minute, source: "the secondary rate limit"},
		{name: "secondary limit in a 200", code: 200, body: "a secondary rate limit", wait: never},
		{name: "secondary limit and Retry-After", code: 403, body: "a secondary rate limit", header: []string{"Retry-After: 5"}, wait: 5 * time.Second, source: "Retry-After"},
	} {
		t.Run(test.name, func(t *testing.T) {
			have := read(test.code, headerOf(test.header...), []byte(test.body))
			var want *status.RetryAfter
			if test.wait != never {
				want = &status.RetryAfter{Wait: test.wait, Source: test.source}
			}
			if diff := cmp.Diff(want, have.RetryAfter); diff != "" {
				t.Errorf("hint (-want +have):\n%s", diff)
			}
			switch {
			case test.note == "" && len(have.Hints) != 0:
				t.Errorf("have hints %q, want none", have.Hints)
			case test.note != "" && (len(have.Hints) != 1 || !strings.Contains(have.Hints[0].Text, test.note)):
				t.Errorf("have hints %q, want one with %q", have.Hints, test.note)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{"1.5s": 1500 * time.Millisecond, "8760h": longestWait, "Fri, 20 Nov 2026 11:00:00 GMT": 0} {
		if have, ok := Parse(text, adviceNow); have != want || !ok {
			t.Errorf("%s: have %v, %t", text, have, ok)
		}
	}
	for _, text := range []string{"8760h1s", "-1s", "soon"} {
		if have, ok := Parse(text, adviceNow); ok {
			t.Errorf("%s: have %v", text, have)
		}
	}
}

func TestReadQuota(t *testing.T) {
	for _, test := range []struct {
		header    []string
		want      *status.Quota
		exhausted bool
	}{
		{[]string{`RateLimit: "a";r=50;t=30, "b";r=500;t=3600, "c";r=0`}, &status.Quota{Remaining: 500, Reset: time.Hour}, true},
		{[]string{`RateLimit: "a";r=0;t=30`}, &status.Quota{Reset: 30 * time.Second}, true},
		{[]string{`RateLimit: limit=9, remaining=5, reset=30`}, &status.Quota{Remaining: 5, Reset: 30 * time.Second}, false},
		{[]string{`RateLimit: "a";r=50;t=0`}, nil, false},
		{[]string{"Age: 7", `RateLimit: "a";r=50;t=30`}, nil, false},
		{[]string{"X-RateLimit-Remaining: 4999", "X-RateLimit-Reset: 1795176060"}, &status.Quota{Remaining: 4999, Reset: time.Minute}, false},
		{[]string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 7"}, &status.Quota{Reset: 7 * time.Second}, true},
		{[]string{"X-RateLimit-Remaining: few", "X-RateLimit-Reset: 7"}, nil, false},
		{[]string{"X-RateLimit-Remaining: 7", "X-RateLimit-Reset: soon"}, nil, false},
		{[]string{"X-RateLimit-Remaining: 7"}, nil, false},
		{[]string{"RateLimit-Remaining: 9", "RateLimit-Reset: 2", "X-RateLimit-Remaining: 7", "X-RateLimit-Reset: 2"},
			&status.Quota{Remaining: 7, Reset: 2 * time.Second}, false},
		{[]string{"RateLimit-Remaining: 0"}, nil, true},
		{[]string{"X-Rate-Limit-Remaining: 0.0"}, nil, true},
		{[]string{"RateLimit: limit=5, remaining=0"}, nil, true},
		{[]string{`RateLimit: "a";r=1`}, nil, false},
	} {
		have := read(200, headerOf(test.header...), nil)
		if diff := cmp.Diff(test.want, have.Quota); diff != "" || have.Exhausted != test.exhausted {
			t.Errorf("%q: exhausted: %t, quota (-want +have):\n%s", test.header, have.Exhausted, diff)
		}
	}
}

// checkAdvice fails the test if have, the result of Read for header, breaks a property that every result has.
func checkAdvice(t *testing.T, header http.Header, have response) {
	t.Helper()
	if have.RetryAfter != nil && (have.RetryAfter.Wait <= 0 || have.RetryAfter.Wait > longestWait || have.RetryAfter.Source == "") {
		t.Errorf("have hint %+v", *have.RetryAfter)
	}
	if q := have.Quota; q != nil && (q.Remaining < 0 || q.Reset <= 0 || q.Reset > longestWait) {
		t.Errorf("have quota %+v", *q)
	}
	for name := range header {
		for _, value := range header.Values(name) {
			if len(value) > 40 && slices.ContainsFunc(have.Hints, func(h status.Hint) bool { return strings.Contains(h.Text, value) }) {
				t.Errorf("the value of %s is in the hints %q", name, have.Hints)
			}
		}
	}
}

// hintFields are the fields of a header that FuzzRead fills, in pairs.
var hintFields = [][2]string{
	{"Retry-After", "Date"}, {"Retry-After-Ms", "Age"}, {"RateLimit", "Date"}, {"RateLimit-Remaining", "RateLimit-Reset"},
	{"X-RateLimit-Remaining", "X-RateLimit-Reset"}, {"X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"}, {"Stripe-Should-Retry", "X-Should-Retry"},
}

func FuzzRead(f *testing.F) {
	for i, seeds := range []string{
		"0 7 -1 1e99 1.5 0x1p4 NaN Inf +3 １ 5,6 Fri,_20_Nov_2026_12:00:09_GMT Friday,_20-Nov-26_12:00:09_GMT Fri_Nov_20_12:00:09_2026 yesterday", "7",
		`"a";r=0;t=30 "a";r=50;t=30,_"b";r=0 limit=100,_remaining=0,_reset=30 a;r=0;t=1;pk=:AA==: ("a"_"b");r=0 "a";r=0;t=-1 "a";r=0.5 ?1 " @1;r=0`,
		"0 3 1e9", "30 12.5 1795176060 1795176060000 1795176060000000 -3 2026-11-20T12:00:30Z " + strings.Repeat("9", 400), "0", "true True",
	} {
		for seed := range strings.FieldsSeq(seeds) {
			seed = strings.ReplaceAll(seed, "_", " ")
			for _, other := range []string{"", "Fri, 20 Nov 2026 12:00:00 GMT", `"a";q=100;w=60`, "30"} {
				f.Add(i, seed, other)
				f.Add(i, other, seed)
			}
		}
	}
	f.Fuzz(func(t *testing.T, i int, value, other string) {
		names := hintFields[uint(i)%uint(len(hintFields))]
		header := http.Header{}
		header.Set(names[0], value)
		header.Set(names[1], other)
		for _, code := range []int{200, 429, 503} {
			have := read(code, header, nil)
			checkAdvice(t, header, have)
			if names[0] == "RateLimit" && have.RetryAfter != nil && !have.Exhausted {
				t.Errorf("%q: a hint while quota is left", value)
			}
		}
	})
}
