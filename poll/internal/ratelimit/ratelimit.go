// Package ratelimit reads how long a server wants clients to wait, and how many requests it still permits. It finds
// both in the header of an HTTP response, in Retry-After, RateLimit and similar fields.
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

// longestWait is the longest wait that a server can request. A later date is ignored as a mistake, and a larger number is
// reduced to longestWait.
const longestWait = 365 * 24 * time.Hour

// maxSkew is the largest accepted difference between the server's clock and the clock of this machine. If the
// difference is larger, the Date of the response is ignored.
const maxSkew = 24 * time.Hour

// secondaryLimitWait is how long GitHub wants clients to wait after a response that reports a secondary rate limit
// but names no wait (GitHub's documentation, "Rate limits for the REST API").
const secondaryLimitWait = time.Minute

// Read reads the server's limits from the response in o. now is the time when the response was received. Read
// sets the fields RetryAfter, Quota and Hints of o, and the fields Exhausted, ShouldRetry, Date and Age of h.
// The RetryAfter comes from the first entry of this list that requests a wait. If a field occurs several times,
// the longest wait counts.
//
//  1. Retry-After-Ms, x-ms-retry-after-ms, openai-poll-after-ms (milliseconds)
//  2. Retry-After (RFC 9110 section 10.2.3)
//  3. x-amz-retry-after (milliseconds)
//  4. RateLimit (draft-ietf-httpapi-ratelimit-headers), if no request is left
//  5. RateLimit-Reset, X-RateLimit-Reset or X-Rate-Limit-Reset, if no request is left
//  6. GitHub's message about its secondary rate limit, in a 403 or 429
//
// A wait of 0 is ignored. A malformed value is also ignored, but adds a note, which does not repeat the value.
func Read(o *status.Observation, h *meaning.HTTP, now time.Time) {
	h.Date, _ = http.ParseTime(o.Header.Get("Date"))
	age, _ := strconv.ParseUint(cmp.Or(o.Header.Get("Age"), "0"), 10, 31)
	h.Age = time.Duration(age) * time.Second
	if hasLimits(o.Header) {
		r := reader{Observation: o, HTTP: h, received: now}
		h.ShouldRetry = r.shouldRetry()
		for _, h := range retryAfterHeaders {
			o.RetryAfter = cmp.Or(o.RetryAfter, r.longest(h.name, h.unit))
		}
		o.RetryAfter = cmp.Or(o.RetryAfter, r.rateLimit())
	}
	if o.RetryAfter == nil && isSecondaryLimit(*o.Code, o.Body) {
		o.RetryAfter = &status.RetryAfter{Wait: secondaryLimitWait, Source: "the secondary rate limit"}
	}
}

// hasLimits reports whether header may have a field with a limit. It only compares parts of the names. Most responses
// have no such field, so Read need not search for each name.
func hasLimits(header http.Header) bool {
	for name := range header {
		if strings.Contains(name, "Retry") || strings.Contains(name, "Rate") || strings.Contains(name, "Poll") {
			return true
		}
	}
	return false
}

// A reader reads the limits in one response. It writes its results to the embedded Observation and HTTP.
type reader struct {
	*status.Observation
	*meaning.HTTP
	received time.Time
}

// wait parses value as parseWait does. It measures the wait until a date by the server's clock, from the time
// when the server sent the response. That time is Date plus, in a response from a cache, Age (RFC 9111 section
// 5.1). If Date is missing or implausible, the time when the response was received takes its place.
func (r *reader) wait(value string, unit time.Duration) (wait time.Duration, ok bool) {
	date := r.Date.Add(r.Age)
	if date.Sub(r.received).Abs() > maxSkew { // also true without a Date, because r.Date is then the zero time
		date = r.received
	}
	return parseWait(value, unit, date)
}

// ignore adds a note that the header field called name is ignored. why is the reason.
func (r *reader) ignore(name, why string) {
	r.Hints = append(r.Hints, status.Hint{Text: name + " ignored: " + why})
}

// value returns the value of the header field called name, and whether the response has that field. Different values
// are joined by commas (RFC 9110 section 5.3). The joined string is neither a number nor a date, so callers ignore
// it.
func (r *reader) value(name string) (value string, sent bool) {
	values := slices.Compact(slices.Clone(r.Header.Values(name)))
	return strings.TrimSpace(strings.Join(values, ", ")), len(values) > 0
}

// shouldRetry returns the value of Stripe-Should-Retry or, failing that, of X-Should-Retry. A value other than
// "true" and "false" is ignored, and adds a note. If no value is left, shouldRetry returns nil.
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

// retryAfterHeaders lists the header fields that hold a wait, and the units of their numbers. Earlier fields take
// precedence.
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

// longest returns the longest wait in the header fields called name, or nil if no wait is greater than 0. unit is the
// unit of numbers in these fields.
func (r *reader) longest(name string, unit time.Duration) *status.RetryAfter {
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
	return &status.RetryAfter{Wait: longest, Source: name}
}

// Parse parses text, a wait that starts at the time now: a duration such as "5s", or the value of a Retry-After
// field. ok is false if text is not a wait, or if the wait is longer than a year. For a date before now, the wait is
// 0 and ok is true.
func Parse(text string, now time.Time) (wait time.Duration, ok bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0 && d <= longestWait
	}
	wait, ok = parseWait(text, time.Second, now)
	return max(wait, 0), ok || wait < 0
}

// parseWait parses value, a wait that starts at the time now. value is a number in the given unit, or a date as
// in RFC 9110 section 5.6.7 or RFC 3339.
//
// A number that exceeds longestWait is probably a time, counted from 1970. It is read as a time if that time is less than
// ten years before and at most one year after now. Any other large number means longestWait, because the server wants the
// client to be patient.
//
// For a time before now, wait is negative and ok is false. For a malformed value, wait is 0 and ok is false.
func parseWait(value string, unit time.Duration, now time.Time) (wait time.Duration, ok bool) {
	var date time.Time
	n, err := parseDecimal(value)
	switch {
	case n >= 1e20: // too large for a time, even in nanoseconds; ParseFloat returns infinity on overflow
		return longestWait, true
	case err == nil && n <= float64(longestWait/unit):
		return time.Duration(n * float64(unit)), true
	case err == nil:
		if date = sinceEpoch(n); date.Sub(now) > longestWait || now.Sub(date) > 10*longestWait {
			return longestWait, true
		}
	default:
		if date, err = http.ParseTime(value); err != nil {
			date, err = time.Parse(time.RFC3339, value)
		}
	}
	wait = date.Sub(now)
	if err != nil || wait > longestWait {
		return 0, false
	}
	return wait, wait >= 0
}

// sinceEpoch returns the time that is n seconds, milliseconds, microseconds or nanoseconds after 1970. It takes the
// first of these units that yields a year before 5139.
func sinceEpoch(n float64) time.Time {
	const tooLate = 1e11
	for n >= tooLate {
		n /= 1000
	}
	return time.UnixMicro(int64(n * 1e6))
}

// parseDecimal parses a number of decimal digits with an optional decimal point and an optional exponent. Only the
// exponent may have a sign. In contrast to [strconv.ParseFloat], parseDecimal rejects hexadecimal numbers, infinities
// and NaN.
func parseDecimal(value string) (float64, error) {
	if strings.Trim(value, "0123456789.eE+-") != "" || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "-") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(value, 64)
}

// isSecondaryLimit reports whether a response is GitHub's message about a secondary rate limit, a limit on many
// requests in a short time. The header of such a response may not mention any limit.
func isSecondaryLimit(code int, body []byte) bool {
	if code != http.StatusForbidden && code != http.StatusTooManyRequests {
		return false
	}
	text := bytes.ToLower(body[:min(len(body), 64<<10)])
	return bytes.Contains(text, []byte("secondary rate limit"))
}

// rateLimit returns the wait until the server permits requests again, or nil if requests are left. It also sets Quota
// and Exhausted.
func (r *reader) rateLimit() *status.RetryAfter {
	if r.Age > 0 {
		return nil // a response from a cache does not have the current quota
	}
	wait := r.rateLimitField()
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if wait == nil && !r.Exhausted {
			wait = r.rateLimitReset(prefix)
		}
	}
	return wait
}

// left records a limit that still permits n requests until its reset, which is due after the duration reset. If
// there are several limits, Quota becomes the limit with the lowest request rate. If reset is 0 or less, the
// time of the reset is unknown, and left sets only Exhausted.
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

// perSecond returns the number of requests per second that uses up q exactly at its reset.
func perSecond(q *status.Quota) float64 { return float64(q.Remaining) / q.Reset.Seconds() }

// rateLimitReset reads two older header fields. Their names are prefix+"Remaining" and prefix+"Reset". Reset
// holds seconds or a time. If Remaining is 0, or missing from a 429, rateLimitReset returns the wait until the
// reset. In any other case it returns nil.
func (r *reader) rateLimitReset(prefix string) *status.RetryAfter {
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
	return r.longest(prefix+"Reset", time.Second)
}

// rateLimitField reads the header field RateLimit, a structured field (RFC 9651) that may have several limits. For
// the limits that leave no requests, it returns the longest wait until a reset. It returns nil if every limit leaves
// requests, or if the reset is unknown.
func (r *reader) rateLimitField() (wait *status.RetryAfter) {
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
		if l.remaining == 0 && reset > 0 && (wait == nil || reset > wait.Wait) {
			wait = &status.RetryAfter{Wait: reset, Source: name}
		}
	}
	return wait
}

// A limit is one of the limits in the header field RateLimit.
type limit struct {
	remaining int64 // number of requests that are left; -1 if the field does not name it
	reset     int64 // seconds until the reset; -1 if the field does not name them, or names more than a year
}

// parseLimits parses values, the values of the header field RateLimit. In the current draft, each member of the
// field is a policy with the number of requests left and the seconds until the reset, as in
// `"default";r=50;t=30`. In earlier drafts the field is a dictionary, as in `limit=100, remaining=50,
// reset=30`. parseLimits returns nil if values are malformed, or if a member lacks the required number of
// requests left.
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
		if limits[i].reset > int64(longestWait/time.Second) {
			limits[i].reset = -1
		}
	}
	return limits
}

// number returns value as an integer. It returns -1 if value is not an integer or is negative. The second parameter
// is ignored, so that the results of a lookup can be passed directly.
func number(value any, _ bool) int64 {
	if item, ok := value.(httpsfv.Item); ok {
		value = item.Value
	}
	if n, ok := value.(int64); ok {
		return max(n, -1)
	}
	return -1
}
