package cli

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// values reads what flags are set to. The first value that makes no sense is
// kept as the error, which names where it came from; what is read after it does
// not matter.
type values struct {
	*cli.Context
	split *split
	err   error
}

// fail keeps the first error, under the name of the flag or its variable.
func (v *values) fail(name string, err error) {
	if v.err == nil {
		v.err = usagef("%s: %w", v.origin(name), err)
	}
}

// origin is how an error names a flag: by its variable if that was used.
func (v *values) origin(name string) string {
	if g := v.split.last(name); g != nil {
		return g.origin()
	}
	return "--" + name
}

// texts returns all values of a flag that may be repeated.
func (v *values) texts(name string) []string {
	var texts []string
	for _, g := range v.split.given {
		if g.flag.name == name {
			texts = append(texts, g.value)
		}
	}
	return texts
}

// duration reads a time that is not negative; without the flag it is def.
func (v *values) duration(name string, def time.Duration) time.Duration {
	if !v.IsSet(name) {
		return def
	}
	text := v.String(name)
	d, err := parseDuration(text)
	if err != nil && len(v.split.operands) > 0 {
		if unit := v.split.operands[0]; isUnit(text, unit) {
			err = usagef("%s needs its unit in the same word: %s%s", text, text, unit)
		}
	}
	if err != nil {
		v.fail(name, err)
	}
	return d
}

// isUnit reports whether a word is the unit that a number lacks.
func isUnit(number, word string) bool {
	_, err := time.ParseDuration(number + word)
	return err == nil && len(word) <= len("ms")
}

// parseDuration reads a time with its unit. A bare 0 needs none.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d < 0:
		return 0, usagef("%s is negative", s)
	case err == nil:
		return d, nil
	}
	if n, numErr := strconv.ParseFloat(s, 64); numErr == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		if n < 0 {
			return 0, usagef("%s is negative", s)
		}
		return 0, usagef("%s needs a unit, e.g. %ss", s, s)
	}
	if strings.Contains(err.Error(), "invalid duration") && overflows(s) {
		return 0, usagef("%s is more than 292 years", s) // what a Duration holds
	}
	return 0, usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s)
}

// overflows reports whether s is a well-formed time that is too long: it would
// parse with every number replaced by 1.
func overflows(s string) bool {
	var short strings.Builder
	digits := false
	for _, r := range s {
		if isDigit := r >= '0' && r <= '9' || r == '.'; isDigit {
			if !digits {
				short.WriteByte('1')
			}
			digits = true
			continue
		}
		digits = false
		short.WriteRune(r)
	}
	_, err := time.ParseDuration(short.String())
	return err == nil
}

// count reads a whole number that is at least least.
func (v *values) count(name string, least, def int) int {
	if !v.IsSet(name) {
		return def
	}
	n, err := strconv.Atoi(v.String(name))
	switch {
	case errors.Is(err, strconv.ErrRange):
		v.fail(name, usagef("%s is too large", v.String(name)))
	case err != nil:
		v.fail(name, usagef("%q is not a whole number", v.String(name)))
	case n < least:
		v.fail(name, usagef("%d is less than %d", n, least))
	}
	return n
}

// seed reads the flag of that name; without it, it is 0.
func (v *values) seed() uint64 {
	if !v.IsSet("seed") {
		return 0
	}
	n, err := strconv.ParseUint(v.String("seed"), 10, 64)
	if err != nil {
		v.fail("seed", usagef("%q is not a whole number from 0 on", v.String("seed")))
	}
	return n
}

// number reads a number that is at least least.
func (v *values) number(name string, least, def float64) float64 {
	if !v.IsSet(name) {
		return def
	}
	n, err := strconv.ParseFloat(v.String(name), 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		v.fail(name, usagef("%q is not a number", v.String(name)))
	case n < least:
		v.fail(name, usagef("%v is less than %v", n, least))
	}
	return n
}

// percent reads "10%" as 0.1. It has to be more than 0.
func (v *values) percent(name string) float64 {
	s := v.String(name)
	number, ok := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		v.fail(name, usagef("%q is not a percentage, e.g. 10%%", s))
	case !ok:
		v.fail(name, usagef("%s needs a %%, e.g. 10%%", s))
	case n <= 0:
		v.fail(name, usagef("%s is not more than 0%%", s))
	}
	return n / 100
}

// sizeUnits are the powers of 1024 (KiB) and of 1000 (kB) that a size may have.
var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

// size reads a number of bytes, with a unit or without.
func (v *values) size(name string, def int64) int64 {
	if !v.IsSet(name) {
		return def
	}
	s := v.String(name)
	number, factor := s, 1.0
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	bytes := n * factor
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		v.fail(name, usagef("%q is not a size, e.g. 64MiB", s))
	case n < 0:
		v.fail(name, usagef("%s is negative", s))
	case bytes >= math.MaxInt64:
		v.fail(name, usagef("%s is too large", s))
	}
	return int64(bytes)
}

// word reads one of a list of words.
func (v *values) word(name, def string, words []string) string {
	if !v.IsSet(name) {
		return def
	}
	s := v.String(name)
	if slices.Contains(words, s) {
		return s
	}
	err := usagef("%q is not one of %s", s, strings.Join(words, ", "))
	if near := nearest(s, words); near != "" {
		err.hint("did you mean %s?", near)
	}
	v.fail(name, err)
	return def
}
