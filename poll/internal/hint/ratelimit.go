package hint

import (
	"net/http"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/pollcli/poll/status"
)

// rateLimit returns the wait until there is quota again, where an answer says
// that none is left.
func (r *reader) rateLimit(code int) *status.Hint {
	if age, ok := r.one("Age"); ok && age != "0" {
		return nil // a cache's answer says nothing of the quota now
	}
	if hint := r.rateLimitField(); hint != nil || r.out.Exhausted {
		return hint
	}
	for _, prefix := range [...]string{"RateLimit-", "X-RateLimit-", "X-Rate-Limit-"} {
		if hint := r.reset(code, prefix); hint != nil || r.out.Exhausted {
			return hint
		}
	}
	return nil
}

// rateLimitField reads the structured field RateLimit (RFC 9651): a list of
// policies with what remains of each (r) and the seconds until there is more
// (t), or the dictionary of limit, remaining and reset of earlier drafts.
func (r *reader) rateLimitField() *status.Hint {
	const name = "RateLimit"
	values := r.header.Values(name)
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
	var wait *time.Duration
	for _, limit := range limits {
		if limit.remaining > 0 {
			continue
		}
		r.out.Exhausted = true
		if seconds, ok := limit.wait(r.windows); ok {
			wait = longer(wait, seconds)
		}
	}
	return r.limitHint(name, wait)
}

func (r *reader) limitHint(name string, wait *time.Duration) *status.Hint {
	switch {
	case wait == nil:
		return nil
	case *wait > maxHint:
		r.ignore(name, problemLong)
		return nil
	}
	return &status.Hint{Wait: *wait, Source: name}
}

func longer(have *time.Duration, seconds int64) *time.Duration {
	d := maxHint + 1
	if seconds <= int64(maxHint/time.Second) {
		d = time.Duration(seconds) * time.Second
	}
	if have != nil && *have > d {
		return have
	}
	return &d
}

// A limit is one member of RateLimit.
type limit struct {
	policy    string
	remaining int64
	reset     int64 // seconds; -1 if not said
}

// wait returns how many seconds there will be no quota. Where the limit does
// not say, it is no longer than the window of its policy.
func (l limit) wait(windows func() map[string]int64) (int64, bool) {
	if l.reset >= 0 {
		return l.reset, true
	}
	seconds, ok := windows()[l.policy]
	return seconds, ok
}

// parseLimits reads `"default";r=50;t=30`. One malformed member spoils all, as
// the draft demands.
func parseLimits(values []string) ([]limit, bool) {
	list, err := httpsfv.UnmarshalList(values)
	if err != nil || len(list) == 0 {
		return nil, false
	}
	limits := make([]limit, 0, len(list))
	for _, member := range list {
		policy, params, ok := policyItem(member)
		if !ok {
			return nil, false
		}
		remaining, has, sane := natural(params, "r")
		reset, hasReset, saneReset := natural(params, "t")
		if !has || !sane || !saneReset {
			return nil, false
		}
		if !hasReset {
			reset = -1
		}
		limits = append(limits, limit{policy: policy, remaining: remaining, reset: reset})
	}
	return limits, true
}

// policyItem returns the name and the parameters of a list member.
func policyItem(member httpsfv.Member) (string, *httpsfv.Params, bool) {
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", nil, false
	}
	switch name := item.Value.(type) {
	case string:
		return name, item.Params, true
	case httpsfv.Token:
		return string(name), item.Params, true
	}
	return "", nil, false
}

// natural returns a parameter that is to be a non-negative integer; sane is
// false where it is something else.
func natural(params *httpsfv.Params, name string) (n int64, has, sane bool) {
	value, has := params.Get(name)
	if !has {
		return 0, false, true
	}
	n, isInt := value.(int64)
	return n, true, isInt && n >= 0
}

// parseOldLimits reads `limit=100, remaining=50, reset=30`.
func parseOldLimits(values []string) ([]limit, bool) {
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return nil, false
	}
	remaining, ok := dictionaryNatural(dictionary, "remaining")
	if !ok {
		return nil, false
	}
	reset, ok := dictionaryNatural(dictionary, "reset")
	if !ok {
		reset = -1
	}
	return []limit{{remaining: remaining, reset: reset}}, true
}

func dictionaryNatural(d *httpsfv.Dictionary, name string) (int64, bool) {
	member, ok := d.Get(name)
	if !ok {
		return 0, false
	}
	item, ok := member.(httpsfv.Item)
	if !ok {
		return 0, false
	}
	n, ok := item.Value.(int64)
	return n, ok && n >= 0
}

// windows returns the seconds of each policy's window in RateLimit-Policy.
func (r *reader) windows() map[string]int64 {
	windows := make(map[string]int64)
	list, err := httpsfv.UnmarshalList(r.header.Values("RateLimit-Policy"))
	if err != nil {
		r.ignore("RateLimit-Policy", "malformed")
		return windows
	}
	for _, member := range list {
		if policy, params, ok := policyItem(member); ok {
			if w, has, sane := natural(params, "w"); has && sane {
				windows[policy] = w
			}
		}
	}
	return windows
}

// reset reads the older headers: Remaining, and Reset as seconds from now or as
// a time. A 429 that does not say what remains has nothing left.
func (r *reader) reset(code int, prefix string) *status.Hint {
	remaining, ok := r.one(prefix + "Remaining")
	if ok {
		n, problem := parseDecimal(remaining)
		if problem != "" {
			r.ignore(prefix+"Remaining", problem)
			return nil
		}
		if n > 0 {
			return nil
		}
		r.out.Exhausted = true
	} else if code != http.StatusTooManyRequests {
		return nil
	}
	value, ok := r.one(prefix + "Reset")
	if !ok {
		return nil
	}
	wait, problem := parseReset(value, r.now)
	if problem != "" {
		r.ignore(prefix+"Reset", problem)
		return nil
	}
	return &status.Hint{Wait: wait, Source: prefix + "Reset"}
}

// The magnitudes by which services are told apart that send an epoch in
// milliseconds, one in seconds, or the seconds that are left.
const (
	leastEpochMillis  = 1e12 // September 2001
	leastEpochSeconds = 1e9
)

// parseReset reads a number by its magnitude, or a date.
func parseReset(value string, now time.Time) (time.Duration, string) {
	n, problem := parseDecimal(value)
	switch {
	case problem == problemNumber:
		return parseResetDate(value, now)
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

func parseResetDate(value string, now time.Time) (time.Duration, string) {
	date, err := http.ParseTime(value)
	if err != nil {
		date, err = time.Parse(time.RFC3339, value)
	}
	if err != nil {
		return 0, problemJunk
	}
	return until(date, now)
}
