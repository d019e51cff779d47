// Package ratelimit reads the limits of a server from the header of an HTTP response: Retry-After, quotas and similar fields.
package ratelimit

import (
	"bytes"
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// maxHint is the longest wait that is accepted. A later date is a mistake.
const maxHint = 365 * 24 * time.Hour

// maxSkew is the largest accepted difference between the clocks of the server and of this machine. With a larger
// difference, the Date of the response is ignored.
const maxSkew = 24 * time.Hour

// secondaryLimitWait is the wait that GitHub requests at a secondary rate limit if the response has no other wait
// (GitHub's documentation, "Rate limits for the REST API").
const secondaryLimitWait = time.Minute

// Read reads the limits from the response in o, which was received at now. It sets Hint, Exhausted, Quota, ShouldRetry,
// Date and Age. The Hint is the first wait in the following list. If a field has several values, the longest wait
// counts.
//
//  1. Retry-After-Ms, x-ms-retry-after-ms, openai-poll-after-ms (milliseconds);
//  2. Retry-After (RFC 9110 section 10.2.3);
//  3. x-amz-retry-after (milliseconds);
//  4. RateLimit (draft-ietf-httpapi-ratelimit-headers), when nothing remains;
//  5. RateLimit-Reset, X-RateLimit-Reset or X-Rate-Limit-Reset when nothing
//     remains;
//  6. GitHub's message about its secondary rate limit in a 403 or 429.
//
// A wait of 0 is ignored. A malformed value is ignored and leads to one of the Remarks, which does not repeat the value.
func Read(o *status.Observation, h *meaning.HTTP, now time.Time) {
	h.Date, _ = http.ParseTime(o.Header.Get("Date"))
	age, _ := strconv.ParseUint(o.Header.Get("Age"), 10, 31)
	h.Age = time.Duration(age) * time.Second
	if hasLimits(o.Header) {
		r := reader{Observation: o, HTTP: h, received: now}
		h.ShouldRetry = r.shouldRetry()
		for _, h := range retryAfterHeaders {
			o.Hint = cmp.Or(o.Hint, r.hint(h.name, h.unit))
		}
		o.Hint = cmp.Or(o.Hint, r.rateLimit())
	}
	if o.Hint == nil && isSecondaryLimit(*o.Code, o.Body) {
		o.Hint = &status.Hint{Wait: secondaryLimitWait, Source: "the secondary rate limit"}
	}
}

// hasLimits reports whether a name in header may be one of the fields that Read reads. It saves the search for each of
// these names in most responses.
func hasLimits(header http.Header) bool {
	for name := range header {
		if strings.Contains(name, "Retry") || strings.Contains(name, "Rate") || strings.Contains(name, "Poll") {
			return true
		}
	}
	return false
}

// A reader reads the header of one response.
type reader struct {
	*status.Observation
	*meaning.HTTP
	received time.Time
}

// wait parses the wait in value, like parseWait, on the clock of the server: the wait starts when the server sent the
// response. In a response from a cache, Date is the time at the origin server, and Age the seconds since that time
// (RFC 9111 section 5.1). Without a usable Date, the wait starts when the response was received.
func (r *reader) wait(value string, unit time.Duration) (wait time.Duration, ok bool) {
	date := r.Date.Add(r.Age)
	if date.Sub(r.received).Abs() > maxSkew { // the zero time without a Date
		date = r.received
	}
	return parseWait(value, unit, date)
}

// ignore adds a remark that the header field name is ignored because of why. The remark does not hold the value.
func (r *reader) ignore(name, why string) {
	r.Remarks = append(r.Remarks, name+" ignored: "+why)
}

// value returns the value of the header field name, and whether the response has the field. It joins different values by
// commas, as RFC 9110 section 5.3 allows: the result is neither a number nor a date, so callers ignore it.
func (r *reader) value(name string) (value string, sent bool) {
	values := slices.Compact(slices.Clone(r.Header.Values(name)))
	return strings.TrimSpace(strings.Join(values, ", ")), len(values) > 0
}

// shouldRetry returns the value of Stripe-Should-Retry or X-Should-Retry, or nil if neither is true or false.
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

// retryAfterHeaders are the header fields that hold a wait, in order of precedence, and the units of their numbers.
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

// hint returns the longest wait in the header fields with this name, whose numbers count units. It returns nil without a
// wait greater than 0.
func (r *reader) hint(name string, unit time.Duration) *status.Hint {
	var longest time.Duration
	for _, value := range r.Header.Values(name) {
		wait, ok := r.wait(strings.TrimSpace(value), unit)
		if !ok {
			r.ignore(name, "not a wait of at most a year")
		}
		longest = max(longest, wait)
	}
	if longest == 0 {
		return nil
	}
	return &status.Hint{Wait: longest, Source: name}
}

// Parse parses a wait that starts now: a duration such as "5s", or the value of a Retry-After. ok is false if text is
// not a wait, or if the wait is longer than a year. A date that has passed is a wait of 0.
func Parse(text string, now time.Time) (wait time.Duration, ok bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0 && d <= maxHint
	}
	wait, ok = parseWait(text, time.Second, now)
	return max(wait, 0), ok || wait < 0
}

// parseWait parses a wait that starts now: a number of units, or a date of RFC 9110 section 5.6.7 or RFC 3339. A number
// that is too large for a wait is the time since 1970, if that time is at most ten years ago and at most a year ahead.
// Any other large number is the longest wait, since the server wants the client to be patient. For a date that has
// passed, wait is negative and ok is false. For a malformed value, wait is 0 and ok is false.
func parseWait(value string, unit time.Duration, now time.Time) (wait time.Duration, ok bool) {
	var date time.Time
	n, err := parseDecimal(value)
	switch {
	case n >= 1e20: // too large for a time, even in nanoseconds; ParseFloat returns infinity on overflow
		return maxHint, true
	case err == nil && n <= float64(maxHint/unit):
		return time.Duration(n * float64(unit)), true
	case err == nil:
		if date = sinceEpoch(n); date.Sub(now) > maxHint || now.Sub(date) > 10*maxHint {
			return maxHint, true
		}
	default:
		if date, err = http.ParseTime(value); err != nil {
			date, err = time.Parse(time.RFC3339, value)
		}
	}
	wait = date.Sub(now)
	if err != nil || wait > maxHint {
		return 0, false
	}
	return wait, wait >= 0
}

// sinceEpoch returns the time n seconds, milliseconds, microseconds or nanoseconds after 1970. It uses the first of these
// units that yields a time before the year 5139.
func sinceEpoch(n float64) time.Time {
	const tooLate = 1e11
	for n >= tooLate {
		n /= 1000
	}
	return time.UnixMicro(int64(n * 1e6))
}

// parseDecimal parses digits with at most one point and an optional exponent. Only the exponent may have a sign. Unlike
// [strconv.ParseFloat], parseDecimal rejects hexadecimal numbers, infinities and NaN.
func parseDecimal(value string) (float64, error) {
	if strings.Trim(value, "0123456789.eE+-") != "" || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "-") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(value, 64)
}

// isSecondaryLimit reports whether a response reports GitHub's secondary rate limit, for too many requests in a short
// time. Such a response need not have a header field with a limit.
func isSecondaryLimit(code int, body []byte) bool {
	if code != http.StatusForbidden && code != http.StatusTooManyRequests {
		return false
	}
	text := bytes.ToLower(body[:min(len(body), 64<<10)])
	return bytes.Contains(text, []byte("secondary rate limit"))
}

// rateLimit returns the wait until the quota is renewed, if no request is left. Otherwise it returns nil. It also sets
// Quota and Exhausted.
func (r *reader) rateLimit() *status.Hint {
	if r.Age > 0 {
		return nil // a response from a cache does not show the current quota
	}
	hint := r.rateLimitField()
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if hint == nil && !r.Exhausted {
			hint = r.rateLimitReset(prefix)
		}
	}
	return hint
}

// left records that n requests are left until reset has passed. If several limits apply, the Quota is the limit that
// allows the fewest requests per second. A reset of 0 or less is unknown, and sets no Quota.
func (r *reader) left(n float64, reset time.Duration) {
	r.Exhausted = r.Exhausted || n == 0
	if reset <= 0 {
		return
	}
	q := &status.Quota{Remaining: int(math.Ceil(min(n, math.MaxInt32))), Reset: reset}
	if r.Quota == nil || perSecond(q) < perSecond(r.Quota) {
		r.Quota = q
	}
}

// perSecond returns the request rate that uses up q exactly at its reset.
func perSecond(q *status.Quota) float64 { return float64(q.Remaining) / q.Reset.Seconds() }

// rateLimitReset reads the older header fields, whose names start with prefix: Remaining, and Reset as seconds or as a
// time. In a 429 without Remaining, no request is left. It returns nil if requests are left.
func (r *reader) rateLimitReset(prefix string) *status.Hint {
	value, sent := r.value(prefix + "Remaining")
	remaining, err := parseDecimal(value)
	switch {
	case !sent && *r.Code != http.StatusTooManyRequests:
		return nil
	case sent && err != nil:
		r.ignore(prefix+"Remaining", "not a number")
		return nil
	case sent:
		value, _ = r.value(prefix + "Reset")
		reset, _ := r.wait(value, time.Second)
		r.left(remaining, reset)
	}
	if remaining > 0 {
		return nil
	}
	return r.hint(prefix+"Reset", time.Second)
}

// rateLimitField reads the structured field RateLimit (RFC 9651). It returns the longest wait among the limits without
// remaining requests, or nil if there is no such limit.
func (r *reader) rateLimitField() (hint *status.Hint) {
	const name = "RateLimit"
	values := r.Header.Values(name)
	if len(values) == 0 {
		return nil
	}
	limits := parseLimits(values)
	if limits == nil {
		r.ignore(name, "malformed")
	}
	for _, l := range limits {
		reset := time.Duration(l.reset) * time.Second
		r.left(float64(l.remaining), reset)
		if l.remaining == 0 && reset > 0 && (hint == nil || reset > hint.Wait) {
			hint = &status.Hint{Wait: reset, Source: name}
		}
	}
	return hint
}

// A limit is one member of RateLimit.
type limit struct {
	remaining int64 // -1 if the member does not have it
	reset     int64 // seconds, at most a year; -1 if the member does not have it
}

// parseLimits parses the values of RateLimit. Each is a list of policies with the remaining requests and the seconds until
// the reset, `"default";r=50;t=30`, or the dictionary of earlier drafts, `limit=100, remaining=50, reset=30`. It returns
// nil if the values are malformed, or if one member lacks the remaining requests, as the draft demands.
func parseLimits(values []string) (limits []limit) {
	list, err := httpsfv.UnmarshalList(values)
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if !ok {
			return nil
		}
		limits = append(limits, limit{number(item.Params.Get("r")), number(item.Params.Get("t"))})
	}
	if dictionary, _ := httpsfv.UnmarshalDictionary(values); err != nil && dictionary != nil {
		limits = []limit{{number(dictionary.Get("remaining")), number(dictionary.Get("reset"))}}
	}
	for i := range limits {
		if limits[i].remaining < 0 {
			return nil
		}
		if limits[i].reset > int64(maxHint/time.Second) {
			limits[i].reset = -1
		}
	}
	return limits
}

// number returns value if it is an integer that is not negative. It returns -1 for any other value.
func number(value any, _ bool) int64 {
	if item, ok := value.(httpsfv.Item); ok {
		value = item.Value
	}
	if n, ok := value.(int64); ok {
		return max(n, -1)
	}
	return -1
}
