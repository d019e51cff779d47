package argv

import (
	"cmp"
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Line is a command line that was read: the flags that are set, and the
// operands.
//
// The methods that read a value keep the first invalid one as the error, with
// where it came from; what is read after it does not matter.
type Line struct {
	reader
	Given []Given // flags as they were typed, then those set by variables
	err   error
}

// Given is a flag with its value.
type Given struct {
	Flag     *Flag
	Value    string // "true" or "false" for a switch
	Variable bool   // set in the environment, not on the command line
	Origin   string // how an error names the flag: by its variable if that was used
}

// Off reports whether g turns a switch off.
func (g *Given) Off() bool { return g.Flag.IsSwitch() && g.Value == "false" }

// Subcommand returns the name of the subcommand, "" for the main command.
func (l *Line) Subcommand() string { return l.command.Name }

// Subcommands returns the names of the program's subcommands.
func (l *Line) Subcommands() []string { return l.program.Names() }

// Write writes a command's result to stdout.
func (l *Line) Write(ctx context.Context, text string) error { return l.program.Write(ctx, text) }

// Getenv returns the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.program.Lookup(name)
	return value
}

// IsCommand reports whether the operands are a program and its arguments.
func (l *Line) IsCommand() bool { return l.isProgram }

// Last returns the last setting of a flag, nil if there is none.
func (l *Line) Last(name string) *Given {
	for _, g := range slices.Backward(l.Given) {
		if g.Flag.Name == name {
			return &g
		}
	}
	return nil
}

// Typed returns the setting of a flag on the command line itself, nil if there
// is none or it turns a switch off.
func (l *Line) Typed(name string) *Given {
	if g := l.Last(name); g != nil && !g.Variable && !g.Off() {
		return g
	}
	return nil
}

// Has reports whether a flag is set.
func (l *Line) Has(name string) bool { return l.Last(name) != nil }

// On reports whether a switch is on.
func (l *Line) On(name string) bool { return l.String(name) == "true" }

// Err returns the error of the first invalid value.
func (l *Line) Err() error { return l.err }

// ErrOr returns Err, which may be the cause of err, or else err.
func (l *Line) ErrOr(err error) error { return cmp.Or(l.err, err) }

func (l *Line) keep(err error) {
	if l.err == nil {
		l.err = err
	}
}

// Fail keeps err, under the name of the flag or its variable, if it is the
// first.
func (l *Line) Fail(name string, err error) { l.keep(Usagef("%s: %w", l.Origin(name), err)) }

// Origin returns what an error calls the flag: its variable, if that set it.
func (l *Line) Origin(name string) string {
	if g := l.Last(name); g != nil {
		return g.Origin
	}
	return "--" + name
}

// String returns the value of a flag, "" if it is not set.
func (l *Line) String(name string) string {
	if g := l.Last(name); g != nil {
		return g.Value
	}
	return ""
}

// Strings returns all values of a flag that may be repeated.
func (l *Line) Strings(name string) []string {
	var list []string
	for _, g := range l.Given {
		if g.Flag.Name == name {
			list = append(list, g.Value)
		}
	}
	return list
}

// value reads a flag; if it is not set, it returns def.
func value[T any](l *Line, name string, def T, parse func(string) (T, error)) T {
	if !l.Has(name) {
		return def
	}
	v, err := parse(l.String(name))
	if err != nil {
		l.Fail(name, err)
	}
	return v
}

// Duration reads a duration that is not negative.
func (l *Line) Duration(name string, def time.Duration) time.Duration {
	return value(l, name, def, func(s string) (time.Duration, error) {
		d, err := ParseDuration(s)
		if err != nil && len(l.Operands) > 0 && isUnit(s, l.Operands[0]) {
			return 0, Usagef("%s needs its unit in the same word: %s%s", s, s, l.Operands[0])
		}
		return d, err
	})
}

func isUnit(number, word string) bool {
	_, err := time.ParseDuration(number + word)
	return err == nil && len(word) <= len("ms")
}

// ParseDuration reads a duration with its unit. A bare 0 needs none.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	n, isNumber := number(s)
	switch {
	case d < 0 || isNumber && n < 0:
		return 0, Usagef("%s is negative", s)
	case err == nil:
		return d, nil
	case isNumber:
		return 0, Usagef("%s needs a unit, e.g. %ss", s, s)
	case overflows(s):
		return 0, Usagef("%s is more than 292 years", s) // what a Duration holds
	}
	return 0, Usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s)
}

// overflows reports whether s is well-formed but too long: it would parse with
// every number replaced by 1.
func overflows(s string) bool {
	_, err := time.ParseDuration(regexp.MustCompile(`[0-9.]+`).ReplaceAllString(s, "1"))
	return err == nil
}

// Count reads a whole number that is at least least.
func (l *Line) Count(name string, least, def int) int {
	return value(l, name, def, func(s string) (int, error) {
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
	})
}

// Uint64 reads a whole number; it is 0 if the flag is not set.
func (l *Line) Uint64(name string) uint64 {
	return value(l, name, 0, func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, Usagef("%q is not a whole number of at least 0", s)
		}
		return n, nil
	})
}

func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// Number reads a number that is at least least.
func (l *Line) Number(name string, least, def float64) float64 {
	return value(l, name, def, func(s string) (float64, error) {
		n, ok := number(s)
		switch {
		case !ok:
			return 0, Usagef("%q is not a number", s)
		case n < least:
			return 0, Usagef("%v is less than %v", n, least)
		}
		return n, nil
	})
}

// Percent reads "10%" as 0.1. The value has to be more than 0.
func (l *Line) Percent(name string) float64 {
	return value(l, name, 0, func(s string) (float64, error) {
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
	})
}

// Size reads a number of bytes, with a unit or without.
func (l *Line) Size(name string, def int64) int64 { return value(l, name, def, parseSize) }

// parseSize reads powers of 1024 (KiB, K) and of 1000 (kB).
func parseSize(s string) (int64, error) {
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

// Choice reads one of the words that the flag takes; if it is not set, its
// default.
func (l *Line) Choice(name string) string {
	f := l.command.Flags.Lookup(name)
	return value(l, name, f.Default, func(s string) (string, error) {
		if !slices.Contains(f.Words, s) {
			return f.Default, notOneOf(s, f.Words)
		}
		return s, nil
	})
}

// List reads a comma-separated list of distinct words.
func List[T ~string](l *Line, name string, words []T) []T {
	var list []T
	for word := range strings.SplitSeq(l.String(name), ",") {
		word := T(strings.TrimSpace(word))
		switch {
		case !slices.Contains(words, word):
			l.Fail(name, notOneOf(string(word), Texts(words)))
		case !slices.Contains(list, word):
			list = append(list, word)
		}
	}
	return list
}

func notOneOf(word string, words []string) *UsageError {
	return Usagef("%q is not one of %s", word, strings.Join(words, ", ")).Meant(word, words)
}

// Texts returns words of a type as strings, as tables of flags have them.
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
