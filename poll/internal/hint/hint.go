// Package hint reads what an HTTP answer says about asking again.
package hint

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/status"
)

// maxHint is the longest wait that is believed. A longer one is a mistake, such as an
// epoch instead of seconds.
const maxHint = 365 * 24 * time.Hour

// maxSkew is by how much a server's clock may differ from this one: by more, its Date is
// no time that it knows.
const maxSkew = 24 * time.Hour

// secondaryLimitWait is how long GitHub wants a client to wait at a secondary rate
// limit, if nothing else is said (GitHub's documentation, "Rate limits for the REST
// API").
const secondaryLimitWait = time.Minute

// Read reads what the answer in an observation, which was received at now, says
// about asking again: it sets Hint, Exhausted, Quota and ShouldRetry. The first of these
// that holds a sensible value is the hint:
//
//  1. Retry-After-Ms, x-ms-retry-after-ms, openai-poll-after-ms (milliseconds);
//  2. Retry-After (RFC 9110 section 10.2.3; fractions of seconds, too), a date
//     measured against the answer's own Date;
//  3. x-amz-retry-after (milliseconds);
//  4. RateLimit, with RateLimit-Policy where it does not say how long
//     (draft-ietf-httpapi-ratelimit-headers), when nothing remains;
//  5. RateLimit-Reset, X-RateLimit-Reset or X-Rate-Limit-Reset when nothing
//     remains;
//  6. GitHub's message about its secondary rate limit in a 403 or 429.
//
// A value that makes no sense is ignored with one of the Remarks, which does not
// repeat it.
func Read(o *status.Observation, now time.Time) {
	if mentionsRetrying(o.Header) {
		r := reader{Observation: o, now: now}
		// A server's dates are measured against its own clock.
		// From a cache, Date is when the answer was made, Age since then (RFC 9111 section 5.1).
		date, err := http.ParseTime(o.Header.Get("Date"))
		age, _ := strconv.ParseUint(o.Header.Get("Age"), 10, 31)
		date = date.Add(time.Duration(age) * time.Second)
		if err == nil && date.Sub(now).Abs() <= maxSkew {
			r.now = date
		}
		o.ShouldRetry = r.shouldRetry()
		o.Hint = r.retryAfter()
		if limit := r.rateLimit(); o.Hint == nil {
			o.Hint = limit
		}
	}
	if o.Hint == nil && isSecondaryLimit(*o.Code, o.Body) {
		o.Hint = &status.Hint{Wait: secondaryLimitWait, Source: "the secondary rate limit"}
	}
}

// mentionsRetrying reports whether a header can say anything that Read looks for.
func mentionsRetrying(header http.Header) bool {
	for key := range header {
		if strings.Contains(key, "Retry") || strings.Contains(key, "imit") || strings.Contains(key, "Poll-After") {
			return true
		}
	}
	return false
}

type reader struct {
	*status.Observation
	now time.Time
}

// ignore remarks that a header is ignored, without its value.
func (r *reader) ignore(name, why string) {
	r.Remarks = append(r.Remarks, name+" ignored: "+why)
}

// one returns the value of a header that is sent once, or repeatedly with the same value.
func (r *reader) one(name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", false
	}
	if slices.ContainsFunc(values, func(v string) bool { return v != values[0] }) {
		r.ignore(name, "sent several times with different values")
		return "", false
	}
	return strings.TrimSpace(values[0]), true
}

func (r *reader) shouldRetry() *bool {
	for _, name := range [...]string{"Stripe-Should-Retry", "X-Should-Retry"} {
		value, ok := r.one(name)
		if !ok {
			continue
		}
		if value == "true" || value == "false" {
			return new(value == "true")
		}
		r.ignore(name, "neither true nor false")
	}
	return nil
}

// retryAfterHeaders are the headers that ask for a wait, the most exact first.
var retryAfterHeaders = [...]struct {
	name  string
	parse parser
}{
	{"Retry-After-Ms", parseMilliseconds},
	{"x-ms-retry-after-ms", parseMilliseconds},
	{"openai-poll-after-ms", parseMilliseconds},
	{"Retry-After", parseRetryAfter},
	{"x-amz-retry-after", parseMilliseconds},
}

func (r *reader) retryAfter() *status.Hint {
	for _, h := range retryAfterHeaders {
		if hint := r.hint(h.name, h.parse); hint != nil {
			return hint
		}
	}
	return nil
}

// hint returns the wait that a header asks for.
func (r *reader) hint(name string, parse parser) *status.Hint {
	value, ok := r.one(name)
	if !ok {
		return nil
	}
	wait, problem := parse(value, r.now)
	if problem != "" {
		r.ignore(name, problem)
		return nil
	}
	return &status.Hint{Wait: wait, Source: name}
}

// A parser parses a wait that begins now, or says what the problem is.
type parser func(value string, now time.Time) (wait time.Duration, problem string)

// The problems of a value, in words.
const (
	problemNegative = "negative"
	problemLong     = "longer than a year"
	problemPast     = "in the past"
	problemJunk     = "neither a number nor a date"
	problemNumber   = "not a number"
)

func parseMilliseconds(value string, _ time.Time) (time.Duration, string) {
	return parseAmount(value, time.Millisecond)
}

// parseRetryAfter reads seconds, also with a fraction as some servers send
// them, or a date in any of the three forms of RFC 9110 section 5.6.7.
func parseRetryAfter(value string, now time.Time) (time.Duration, string) {
	wait, problem := parseAmount(value, time.Second)
	if problem != problemNumber {
		return wait, problem
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, problemJunk
	}
	return until(date, now)
}

// until returns how long after now a date is.
func until(date, now time.Time) (time.Duration, string) {
	switch wait := date.Sub(now); {
	case wait < 0:
		return 0, problemPast
	case wait > maxHint:
		return 0, problemLong
	default:
		return wait, ""
	}
}

// parseAmount reads a decimal number of units.
func parseAmount(value string, unit time.Duration) (time.Duration, string) {
	n, problem := parseDecimal(value)
	if problem == "" && n > float64(maxHint/unit) {
		problem = problemLong
	}
	if problem != "" {
		return 0, problem
	}
	return time.Duration(n * float64(unit)), ""
}

// decimal matches digits, and a fraction after a point. Exponents and other
// notations are not numbers here.
var decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`) })

// parseDecimal reads a decimal number that is not negative.
func parseDecimal(value string) (float64, string) {
	if !decimal().MatchString(value) {
		return 0, problemNumber
	}
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case n < 0:
		return 0, problemNegative
	case err != nil: // so many digits that it overflows
		return 0, problemLong
	}
	return n, ""
}

// isSecondaryLimit reports whether an answer is GitHub's refusal of too many
// requests in a short time, which need not carry any header that says so.
func isSecondaryLimit(code int, body []byte) bool {
	if code != http.StatusForbidden && code != http.StatusTooManyRequests {
		return false
	}
	const enough = 64 << 10
	text := bytes.ToLower(body[:min(len(body), enough)])
	return bytes.Contains(text, []byte("secondary rate limit"))
}
