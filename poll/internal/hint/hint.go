// Package hint reads what an HTTP answer says about asking again.
package hint

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// maxHint is the longest wait that is believed. A longer one is a mistake.
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
// that names a wait is the hint:
//
//  1. Retry-After-Ms, x-ms-retry-after-ms, openai-poll-after-ms (milliseconds);
//  2. Retry-After (RFC 9110 section 10.2.3);
//  3. x-amz-retry-after (milliseconds);
//  4. RateLimit, with RateLimit-Policy where it does not say how long
//     (draft-ietf-httpapi-ratelimit-headers), when nothing remains;
//  5. RateLimit-Reset, X-RateLimit-Reset or X-Rate-Limit-Reset when nothing
//     remains;
//  6. GitHub's message about its secondary rate limit in a 403 or 429.
//
// A wait of 0 is none. A value that makes no sense is ignored with one of the Remarks,
// which does not repeat it.
func Read(o *status.Observation, now time.Time) {
	r := reader{Observation: o, now: serverTime(o.Header, now)}
	o.ShouldRetry = r.shouldRetry()
	for _, h := range retryAfterHeaders {
		o.Hint = cmp.Or(o.Hint, r.hint(h.name, h.unit))
	}
	o.Hint = cmp.Or(o.Hint, r.rateLimit())
	if o.Hint == nil && isSecondaryLimit(*o.Code, o.Body) {
		o.Hint = &status.Hint{Wait: secondaryLimitWait, Source: "the secondary rate limit"}
	}
}

// serverTime returns what the server's clock shows now, against which its dates are
// measured. From a cache, Date is when the answer was made, and Age the seconds since then
// (RFC 9111 section 5.1).
func serverTime(header http.Header, now time.Time) time.Time {
	date, err := http.ParseTime(header.Get("Date"))
	age, _ := strconv.ParseUint(header.Get("Age"), 10, 31)
	date = date.Add(time.Duration(age) * time.Second)
	if err != nil || date.Sub(now).Abs() > maxSkew {
		return now
	}
	return date
}

type reader struct {
	*status.Observation
	now time.Time
}

// ignore remarks that a header is ignored, without its value.
func (r *reader) ignore(name, why string) {
	r.Remarks = append(r.Remarks, name+" ignored: "+why)
}

// value returns the value of a header. Different values of one header are a list, which
// no header but RateLimit may have.
func (r *reader) value(name string) (value string, sent bool) {
	values := slices.Compact(slices.Clone(r.Header.Values(name)))
	return strings.TrimSpace(strings.Join(values, ", ")), len(values) > 0
}

func (r *reader) shouldRetry() *bool {
	for _, name := range []string{"Stripe-Should-Retry", "X-Should-Retry"} {
		switch value, sent := r.value(name); {
		case value == "true", value == "false":
			return new(value == "true")
		case sent:
			r.ignore(name, "neither true nor false")
		}
	}
	return nil
}

// retryAfterHeaders are the headers that ask for a wait, the most exact first.
var retryAfterHeaders = [...]struct {
	name string
	unit time.Duration
}{
	{"Retry-After-Ms", time.Millisecond},
	{"x-ms-retry-after-ms", time.Millisecond},
	{"openai-poll-after-ms", time.Millisecond},
	{"Retry-After", time.Second},
	{"x-amz-retry-after", time.Millisecond},
}

// hint returns the wait that a header asks for.
func (r *reader) hint(name string, unit time.Duration) *status.Hint {
	value, sent := r.value(name)
	wait, ok := parseWait(value, unit, r.now)
	switch {
	case sent && !ok:
		r.ignore(name, "not a wait of at most a year")
	case wait > 0:
		return &status.Hint{Wait: wait, Source: name}
	}
	return nil
}

// parseWait reads a wait that begins now: a number of units, or a date of RFC 9110 section
// 5.6.7 or RFC 3339. A number that is too large for a wait is the time since 1970.
func parseWait(value string, unit time.Duration, now time.Time) (wait time.Duration, ok bool) {
	var date time.Time
	n, err := parseDecimal(value)
	switch {
	case err == nil && n <= float64(maxHint/unit):
		return time.Duration(n * float64(unit)), true
	case err == nil:
		date = sinceEpoch(n)
	default:
		if date, err = http.ParseTime(value); err != nil {
			date, err = time.Parse(time.RFC3339, value)
		}
	}
	wait = date.Sub(now)
	if err != nil || wait < 0 || wait > maxHint {
		return 0, false
	}
	return wait, true
}

// sinceEpoch reads a number of seconds, milliseconds, microseconds or nanoseconds: of the
// first of these by which it is a time before the year 5000.
func sinceEpoch(n float64) time.Time {
	const tooLate = 1e11
	for n >= tooLate {
		n /= 1000
	}
	return time.UnixMicro(int64(n * 1e6))
}

// parseDecimal reads digits with at most one point. Signs, exponents and other notations are
// no numbers here.
func parseDecimal(value string) (float64, error) {
	if strings.Trim(value, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(value, 64)
}

// isSecondaryLimit reports whether an answer is GitHub's refusal of too many
// requests in a short time, which need not carry any header that says so.
func isSecondaryLimit(code int, body []byte) bool {
	if code != http.StatusForbidden && code != http.StatusTooManyRequests {
		return false
	}
	text := bytes.ToLower(body[:min(len(body), 64<<10)])
	return bytes.Contains(text, []byte("secondary rate limit"))
}
