package argv

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses a duration with its unit, such as 30s. The number 0 needs no unit. A negative duration is
// an error.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	n, isNumber := number(s)
	switch {
	case d < 0 || n < 0:
		return 0, Usagef("%s is negative", s).Advise("time " + s)
	case err == nil:
		return d, nil
	case isNumber:
		return 0, Usagef("%s needs a unit, e.g. %ss", s, s).Advise("time " + s)
	}
	return 0, Usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s).Advise("time " + s)
}

// number parses a finite number, and reports whether s is a finite number.
func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// least returns a parser of values that are at least bound. what is the kind of value in errors.
func least[T cmp.Ordered](bound T, what string, parse func(string) (T, bool)) func(string) (T, error) {
	return func(s string) (T, error) {
		n, ok := parse(s)
		switch {
		case !ok:
			return n, Usagef("%q is not %s", s, what)
		case n < bound:
			return n, Usagef("%v is less than %v", n, bound)
		}
		return n, nil
	}
}

// ParseCount returns a parser of whole numbers that are at least bound.
func ParseCount(bound int) func(string) (int, error) {
	return least(bound, "a whole number", func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil
	})
}

// ParseNumber returns a parser of numbers that are at least bound.
func ParseNumber(bound float64) func(string) (float64, error) {
	return least(bound, "a number", number)
}

// ParseUint64 parses a whole number that is at least 0.
func ParseUint64(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, Usagef("%q is not a whole number of at least 0", s)
	}
	return n, nil
}

// ParsePercent parses a percentage above 0. It returns 0.1 for "10%".
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

// ParseRate parses a number of events in a time, such as "5/10s", as in the --rate of curl. It returns the
// number of events per second. "0" returns 0, which means no limit.
func ParseRate(s string) (float64, error) {
	count, per, hasUnit := strings.Cut(s, "/")
	n, ok := number(count)
	switch {
	case ok && n == 0:
		return 0, nil
	case ok && !hasUnit: // in curl, a number without a unit is per hour
		return 0, Usagef("%s needs a unit of time, e.g. %s/s, %s/m or %s/h", s, s, s, s)
	}
	digits := strings.TrimRight(per, "smhd")
	units, isNumber := number(cmp.Or(digits, "1"))
	unit := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[per[len(digits):]]
	if !ok || n < 0 || !isNumber || units <= 0 || unit == 0 {
		return 0, Usagef("%q is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s", s)
	}
	return n / (units * unit), nil
}

// ParseShare parses "N" as a number, and "N%" as a share of total, rounded up. The result is at least 1 and at
// most total. things is the name of the counted things in errors.
func ParseShare(s string, total int, things string) (int, error) {
	digits, isShare := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	if isShare {
		n = math.Ceil(n*float64(total)/100 - 1e-9) // 4.4% of 750 is 33, although the product is 33.000000000000007
	}
	switch {
	case !ok || n <= 0 || n != math.Trunc(n):
		return 0, Usagef("%q is neither a whole number nor a percentage, e.g. 3 or 95%%", s)
	case isShare && n > float64(total):
		return 0, Usagef("%s is more than all", s)
	case n > float64(total):
		return 0, Usagef("%s of %d %s is more than all", s, total, things)
	}
	return int(n), nil
}

// ParseSize parses a number of bytes, with a unit or without. KiB, K and k are powers of 1024; kB and KB are
// powers of 1000. A fraction of a byte is dropped, but the number must be 0 or at least one byte.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKMGiB")
	factor := map[string]float64{
		"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
		"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[s[len(digits):]]
	n, ok := number(strings.TrimSpace(digits))
	switch {
	case !ok || factor == 0 || n < 0 || n > 0 && n*factor < 1:
		return 0, Usagef("%q is not a size, e.g. 64MiB", s)
	case n*factor >= math.MaxInt64:
		return 0, Usagef("%s is too large", s)
	}
	return int64(n * factor), nil
}

// ParseList returns a parser of a list with commas between its elements. read parses an element. Repeated
// elements are dropped.
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

// ParseWord returns a parser that accepts only words.
func ParseWord(words []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", Usagef("%q is not one of %s", s, strings.Join(words, ", ")).Meant(s, words)
		}
		return s, nil
	}
}

// Texts converts words to strings, as tables of flags need them.
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
