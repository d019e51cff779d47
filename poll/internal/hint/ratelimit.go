package hint

import (
	"math"
	"net/http"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/pollcli/poll/status"
)

// rateLimit returns the wait until there is quota again, if an answer says that none is
// left.
func (r *reader) rateLimit() *status.Hint {
	if age, ok := r.one("Age"); ok && age != "0" {
		return nil // a cache's answer says nothing of the quota now
	}
	hint := r.rateLimitField()
	for _, prefix := range [...]string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if hint == nil && !r.Exhausted {
			hint = r.rateLimitReset(prefix)
		}
	}
	return hint
}

// quota notes that n attempts are left for a time. If several limits apply, the one that
// allows the fewest in a second counts.
func (r *reader) quota(n float64, reset time.Duration) {
	if reset <= 0 {
		return
	}
	q := &status.Quota{Remaining: int(math.Ceil(min(n, math.MaxInt32))), Reset: reset}
	if r.Quota == nil || q.PerSecond() < r.Quota.PerSecond() {
		r.Quota = q
	}
}

// A limit is one member of RateLimit.
type limit struct {
	policy    string
	remaining int64
	reset     int64 // seconds; -1 if not said
}

// rateLimitField reads the structured field RateLimit (RFC 9651): a list of
// policies with what remains of each (r) and the seconds until there is more
// (t), or the dictionary of limit, remaining and reset of earlier drafts.
func (r *reader) rateLimitField() *status.Hint {
	const name = "RateLimit"
	values := r.Header.Values(name)
	if len(values) == 0 {
		return nil
	}
	limits, ok := parseLimits(values)
	if !ok {
		limits, ok = parseOldLimits(values)
	}
	if !ok {
		r.ignore(name, "malformed")
		return nil
	}
	longest := int64(-1)
	for _, l := range limits {
		r.quota(float64(l.remaining), time.Duration(min(l.reset, int64(maxHint/time.Second)))*time.Second)
		if l.remaining > 0 {
			continue
		}
		r.Exhausted = true
		if l.reset < 0 { // it is no longer than the window of the policy
			l.reset = r.window(l.policy)
		}
		longest = max(longest, l.reset)
	}
	switch {
	case longest < 0:
		return nil
	case longest > int64(maxHint/time.Second):
		r.ignore(name, problemLong)
		return nil
	}
	return &status.Hint{Wait: time.Duration(longest) * time.Second, Source: name}
}

// parseLimits reads `"default";r=50;t=30`. One malformed member invalidates all, as the
// draft demands.
func parseLimits(values []string) (limits []limit, ok bool) {
	list, err := httpsfv.UnmarshalList(values)
	if err != nil {
		return nil, false
	}
	for _, member := range list {
		policy, params := policyItem(member)
		if params == nil {
			return nil, false
		}
		remaining, ok := natural(params.Get("r"))
		reset, okReset := natural(params.Get("t"))
		if !ok || !okReset || remaining < 0 {
			return nil, false
		}
		limits = append(limits, limit{policy, remaining, reset})
	}
	return limits, len(limits) > 0
}

// parseOldLimits reads `limit=100, remaining=50, reset=30`.
func parseOldLimits(values []string) ([]limit, bool) {
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return nil, false
	}
	number := func(name string) int64 {
		member, _ := dictionary.Get(name)
		if item, ok := member.(httpsfv.Item); ok {
			if n, ok := natural(item.Value, true); ok {
				return n
			}
		}
		return -1
	}
	remaining := number("remaining")
	return []limit{{remaining: remaining, reset: number("reset")}}, remaining >= 0
}

// natural returns a non-negative integer, or -1 if nothing was found. Anything else is
// not ok.
func natural(value any, found bool) (n int64, ok bool) {
	if !found {
		return -1, true
	}
	n, ok = value.(int64)
	return n, ok && n >= 0
}

// policyItem returns the name and the parameters of a list member, nil if it is
// not named.
func policyItem(member httpsfv.Member) (name string, params *httpsfv.Params) {
	item, _ := member.(httpsfv.Item)
	switch name := item.Value.(type) {
	case string:
		return name, item.Params
	case httpsfv.Token:
		return string(name), item.Params
	}
	return "", nil
}

// window returns the seconds of a policy's window in RateLimit-Policy, -1 if that
// does not say.
func (r *reader) window(policy string) int64 {
	const name = "RateLimit-Policy"
	list, err := httpsfv.UnmarshalList(r.Header.Values(name))
	if err != nil {
		r.ignore(name, "malformed")
	}
	seconds := int64(-1)
	for _, member := range list {
		if name, params := policyItem(member); params != nil && name == policy {
			if w, ok := natural(params.Get("w")); ok && w >= 0 {
				seconds = w
			}
		}
	}
	return seconds
}

// rateLimitReset reads the older headers: Remaining, and Reset as seconds from now
// or as a time. A 429 that does not say what remains has nothing left.
func (r *reader) rateLimitReset(prefix string) *status.Hint {
	remaining, ok := r.one(prefix + "Remaining")
	if !ok && *r.Code != http.StatusTooManyRequests {
		return nil
	}
	if ok {
		n, problem := parseDecimal(remaining)
		if problem != "" {
			r.ignore(prefix+"Remaining", problem)
		}
		if problem != "" {
			return nil
		}
		if reset, problem := parseReset(r.Header.Get(prefix+"Reset"), r.now); problem == "" {
			r.quota(n, reset)
		}
		if n > 0 {
			return nil
		}
		r.Exhausted = true
	}
	return r.hint(prefix+"Reset", parseReset)
}

// The least numbers that are read as an epoch in milliseconds and in seconds. Smaller
// ones are the seconds left.
const (
	leastEpochMillis  = 1e12 // September 2001
	leastEpochSeconds = 1e9
)

// parseReset reads a number by its magnitude, or a date.
func parseReset(value string, now time.Time) (time.Duration, string) {
	n, problem := parseDecimal(value)
	switch {
	case problem == problemNumber:
		date, err := http.ParseTime(value)
		if err != nil {
			date, err = time.Parse(time.RFC3339, value)
		}
		if err != nil {
			return 0, problemJunk
		}
		return until(date, now)
	case problem != "":
		return 0, problem
	case n >= leastEpochMillis*1e3:
		return 0, problemLong
	case n >= leastEpochMillis:
		return until(time.UnixMilli(int64(n)), now)
	case n >= leastEpochSeconds:
		return until(time.UnixMicro(int64(n*1e6)), now)
	}
	return parseAmount(value, time.Second)
}
