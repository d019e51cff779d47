// Package hint reads what an HTTP answer says about asking again.
package hint

import (
	"bytes"
	"cmp"
	"fmt"
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

// maxHint is the longest wait that is believed. A date beyond it is a mistake.
const maxHint = 365 * 24 * time.Hour

// maxSkew is by how much a server's clock may differ from this one: by more, its Date is
// no time that it knows.
const maxSkew = 24 * time.Hour

// secondaryLimitWait is how long GitHub wants a client to wait at a secondary rate
// limit, if nothing else is said (GitHub's documentation, "Rate limits for the REST
// API").
const secondaryLimitWait = time.Minute

// Read reads what the answer in an observation, which was received at now, says
// about asking again: it sets Hint, Exhausted, Quota and ShouldRetry. It also sets Date and Age. The first
// of these that names a wait is the hint; of several fields of one name, the longest wait counts:
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
func Read(o *status.Observation, h *meaning.HTTP, now time.Time) {
	h.Date, _ = http.ParseTime(o.Header.Get("Date"))
	age, _ := strconv.ParseUint(o.Header.Get("Age"), 10, 31)
	h.Age = time.Duration(age) * time.Second
	r := reader{Observation: o, HTTP: h, received: now}
	h.ShouldRetry = r.shouldRetry()
	for _, h := range retryAfterHeaders {
		o.Hint = cmp.Or(o.Hint, r.hint(h.name, h.unit))
	}
	o.Hint = cmp.Or(o.Hint, r.rateLimit())
	if o.Hint == nil && isSecondaryLimit(*o.Code, o.Body) {
		o.Hint = &status.Hint{Wait: secondaryLimitWait, Source: "the secondary rate limit"}
	}
}

type reader struct {
	*status.Observation
	*meaning.HTTP
	received time.Time
}

// wait reads a wait that begins when the server's clock shows what it showed at the answer. From a
// cache, Date is when the answer was made, and Age the seconds since then (RFC 9111 section 5.1).
func (r *reader) wait(value string, unit time.Duration) (wait time.Duration, ok bool) {
	date := r.Date.Add(r.Age)
	if date.Sub(r.received).Abs() > maxSkew { // or without a Date
		date = r.received
	}
	return parseWait(value, unit, date)
}

// ignore remarks that a header is ignored, without its value.
func (r *reader) ignore(name, why string) {
	r.Remarks = append(r.Remarks, name+" ignored: "+why)
}

// value returns the value of a header. Different values of one header are a list, which is neither a
// number nor a date.
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

// hint returns the longest wait that the fields of a name ask for.
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

// Parse reads a wait that begins now: a duration such as "5s", or the value of a Retry-After. It returns false for
// a text that is not a wait of at most a year. A date that has passed is a wait of 0.
func Parse(text string, now time.Time) (wait time.Duration, ok bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0 && d <= maxHint
	}
	wait, ok = parseWait(text, time.Second, now)
	return max(wait, 0), ok || wait < 0
}

// parseWait reads a wait that begins now: a number of units, or a date of RFC 9110 section
// 5.6.7 or RFC 3339. A number that is too large for a wait is the time since 1970 if that is a
// time of these years, and otherwise the longest wait: whoever sends it asks for patience. For a date
// that has passed the wait is negative, and ok is false.
func parseWait(value string, unit time.Duration, now time.Time) (wait time.Duration, ok bool) {
	var date time.Time
	n, err := parseDecimal(value)
	switch {
	case n >= 1e20: // which is no time, even in nanoseconds; what overflows is infinite
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

// sinceEpoch reads a number of seconds, milliseconds, microseconds or nanoseconds: of the
// first of these by which it is a time before the year 5000.
func sinceEpoch(n float64) time.Time {
	const tooLate = 1e11
	for n >= tooLate {
		n /= 1000
	}
	return time.UnixMicro(int64(n * 1e6))
}

// parseDecimal reads digits with at most one point, and perhaps an exponent, which may have a sign. Other
// signs and notations are not numbers here.
func parseDecimal(value string) (float64, error) {
	if strings.Trim(value, "0123456789.eE+-") != "" || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "-") {
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

// rateLimit returns the wait until there is quota again, if an answer says that none is
// left.
func (r *reader) rateLimit() *status.Hint {
	if r.Age > 0 {
		return nil // a cache's answer says nothing of the quota now
	}
	hint := r.rateLimitField()
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if hint == nil && !r.Exhausted {
			hint = r.rateLimitReset(prefix)
		}
	}
	return hint
}

// left notes that n attempts are left for a time. If several limits apply, the one that
// allows the fewest in a second is the quota.
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

// perSecond returns how many attempts a second use up a quota in time.
func perSecond(q *status.Quota) float64 { return float64(q.Remaining) / q.Reset.Seconds() }

// rateLimitReset reads the older headers: Remaining, and Reset as seconds from now
// or as a time. A 429 that does not say what remains has nothing left.
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

// rateLimitField reads the structured field RateLimit (RFC 9651).
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
		if l.remaining == 0 && l.reset < 0 { // it is no longer than the window of the policy
			l.reset = r.window(l.policy)
		}
		reset := time.Duration(l.reset) * time.Second
		r.left(float64(l.remaining), reset)
		if l.remaining == 0 && reset > 0 && (hint == nil || reset > hint.Wait) {
			hint = &status.Hint{Wait: reset, Source: name}
		}
	}
	return hint
}

// A limit is one member of RateLimit. A number is -1 if it is not said.
type limit struct {
	policy    string
	remaining int64
	reset     int64 // in seconds
}

// parseLimits reads a list of policies with what remains of each and the seconds until there
// is more, `"default";r=50;t=30`, or the dictionary of earlier drafts, `limit=100,
// remaining=50, reset=30`. One member that does not say what remains invalidates all, as the
// draft demands: the result is nil.
func parseLimits(values []string) (limits []limit) {
	list, err := httpsfv.UnmarshalList(values)
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if !ok {
			return nil
		}
		params := item.Params
		limits = append(limits, limit{fmt.Sprint(item.Value), number(params.Get("r")), seconds(params.Get("t"))})
	}
	if dictionary, _ := httpsfv.UnmarshalDictionary(values); err != nil && dictionary != nil {
		limits = []limit{{"", number(dictionary.Get("remaining")), seconds(dictionary.Get("reset"))}}
	}
	if slices.ContainsFunc(limits, func(l limit) bool { return l.remaining < 0 }) {
		return nil
	}
	return limits
}

// number returns an integer that is not negative, -1 for anything else.
func number(value any, _ bool) int64 {
	if item, ok := value.(httpsfv.Item); ok {
		value = item.Value
	}
	if n, ok := value.(int64); ok {
		return max(n, -1)
	}
	return -1
}

// seconds returns a number of seconds of at most a year, -1 for anything else.
func seconds(value any, found bool) int64 {
	n := number(value, found)
	if n > int64(maxHint/time.Second) {
		return -1
	}
	return n
}

// window returns the seconds of a policy's window in RateLimit-Policy, -1 if that
// does not say.
func (r *reader) window(policy string) int64 {
	list, _ := httpsfv.UnmarshalList(r.Header.Values("RateLimit-Policy"))
	for _, member := range list {
		if item, ok := member.(httpsfv.Item); ok && fmt.Sprint(item.Value) == policy {
			return seconds(item.Params.Get("w"))
		}
	}
	return -1
}
