package argv

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a duration with its unit. A bare 0 needs none.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	n, isNumber := number(s)
	switch {
	case d < 0 || isNumber && n < 0:
		return 0, Usagef("%s is negative", s).Hint("%s", Advice("time "+s))
	case err == nil:
		return d, nil
	case isNumber:
		return 0, Usagef("%s needs a unit, e.g. %ss", s, s)
	}
	return 0, Usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s).Hint("%s", Advice("time "+s))
}

// ParseCount returns a reader of whole numbers that are at least least.
func ParseCount(least int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return n, Usagef("%s is too large", s)
		case err != nil:
			return n, Usagef("%q is not a whole number", s)
		case n < least:
			return n, Usagef("%d is less than %d", n, least)
		}
		return n, nil
	}
}

// ParseUint64 reads a whole number that is not negative.
func ParseUint64(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, Usagef("%q is not a whole number of at least 0", s)
	}
	return n, nil
}

func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// ParseNumber returns a reader of numbers that are at least least.
func ParseNumber(least float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		n, ok := number(s)
		switch {
		case !ok:
			return 0, Usagef("%q is not a number", s)
		case n < least:
			return 0, Usagef("%v is less than %v", n, least)
		}
		return n, nil
	}
}

// ParsePercent reads "10%" as 0.1. The value has to be more than 0.
func ParsePercent(s string) (float64, error) {
	digits, hasUnit := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	switch {
	case !ok:
		return 0, Usagef("%q is not a percentage, e.g. 10%%", s)
	case !hasUnit:
		return 0, Usagef("%s needs a %%, e.g. 10%%", s)
	case n <= 0:
		return 0, Usagef("%s is not more than 0%%", s)
	}
	return n / 100, nil
}

// ParseRate reads a number of events in a time, as curl's --rate does, and returns how many
// that are in a second. 0 means no limit.
func ParseRate(s string) (float64, error) {
	count, per, hasUnit := strings.Cut(s, "/")
	n, ok := number(count)
	switch {
	case !ok:
		return 0, Usagef("%q is not a rate, e.g. 50/s, 10/m or 5/10s", s)
	case n < 0:
		return 0, Usagef("%s is negative", s)
	case n == 0:
		return 0, nil
	case !hasUnit: // for curl it is a number an hour
		return 0, Usagef("%s needs a unit of time, e.g. %s/s, %s/m or %s/h", s, s, s, s)
	}
	digits := strings.TrimRight(per, "smhd")
	unit := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[per[len(digits):]]
	units, ok := number(cmp.Or(digits, "1"))
	switch {
	case unit == 0 || !ok:
		return 0, Usagef("%q is not a rate: its unit is s, m, h or d, e.g. 10/m or 5/10s", s)
	case units <= 0:
		return 0, Usagef("%s is in no time", s)
	}
	return n / (units * unit), nil
}

// ParseShare reads "N" as a number, and "N%" as that share of total, rounded up. Both are at
// least 1 and at most total; total is said to be of things.
func ParseShare(s string, total int, things string) (int, error) {
	digits, isShare := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	switch {
	case !ok || !isShare && n != math.Trunc(n):
		return 0, Usagef("%q is neither a whole number nor a percentage, e.g. 3 or 95%%", s)
	case n <= 0:
		return 0, Usagef("%s is not more than 0", s)
	case isShare && n > 100:
		return 0, Usagef("%s is more than all %s", s, things)
	case isShare:
		n = math.Ceil(n * float64(total) / 100)
	case n > float64(total):
		return 0, Usagef("%s of %d %s is more than all", s, total, things)
	}
	return int(n), nil
}

// ParseSize reads a number of bytes, with a unit or without: powers of 1024 (KiB, K) and of 1000 (kB).
func ParseSize(s string) (int64, error) {
	digits, factor := s, 1.0
	for _, unit := range []struct {
		name  string
		bytes float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
		{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
	} {
		if rest, ok := strings.CutSuffix(s, unit.name); ok {
			digits, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	n, ok := number(digits)
	switch {
	case !ok:
		return 0, Usagef("%q is not a size, e.g. 64MiB", s)
	case n < 0:
		return 0, Usagef("%s is negative", s)
	case n*factor >= math.MaxInt64:
		return 0, Usagef("%s is too large", s)
	}
	return int64(n * factor), nil
}

// Choice returns the word of a flag that takes one of a few; if it is not set, its default.
func (l *Line) Choice(name string) string {
	f := l.Flag(name)
	if f.set.rank == Unset {
		return f.Default
	}
	return f.text()
}

// ParseList returns a reader of a list with commas between its elements, which read reads. Of
// equal elements it keeps the first.
func ParseList[T comparable](read func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) (list []T, err error) {
		for word := range strings.SplitSeq(s, ",") {
			v, err := read(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		return list, nil
	}
}

// ParseWord returns a reader of one of a few words.
func ParseWord(words []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", notOneOf(s, words)
		}
		return s, nil
	}
}

// Texts returns words of a type as strings, as tables of flags have them.
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
