package hint

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/pollcli/poll/status"
)

// rateLimit returns the wait until there is quota again, if an answer says that none is
// left.
func (r *reader) rateLimit() *status.Hint {
	if age, sent := r.value("Age"); sent && age != "0" {
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
	if r.Quota == nil || q.PerSecond() < r.Quota.PerSecond() {
		r.Quota = q
	}
}

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
		reset, _ := parseWait(value, time.Second, r.now)
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
	limits := parseLimits(values)
	if limits == nil && len(values) > 0 {
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
