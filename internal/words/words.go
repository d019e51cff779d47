// Package words formats durations, numbers and text in the same way for the whole program. It also finds the word
// that a misspelled word stands for, adds durations, compiles patterns, and quotes command lines for cmd.exe.
package words

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

const day = 24 * time.Hour

// Duration formats d for people, as in "100ms", "3.075s", "1h18m18s" or "4d12h". It rounds durations of a
// millisecond or more to microseconds, of a second or more to milliseconds, and of a minute or more to seconds.
// For the longest duration, it returns "over 292 years".
func Duration(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "over 292 years"
	case d < time.Millisecond:
		return d.String()
	case d < time.Second:
		return d.Round(time.Microsecond).String()
	case d.Round(time.Millisecond) < time.Minute:
		return d.Round(time.Millisecond).String()
	}
	d = d.Round(time.Second)
	rest := strings.NewReplacer("h0m0s", "h", "m0s", "m", "h0m", "h").Replace((d % day).String())
	if d < day {
		return rest
	}
	return strconv.Itoa(int(d/day)) + "d" + strings.TrimPrefix(rest, "0s")
}

// Short formats d like [Duration], but with the precision that suits a sentence: milliseconds up to a second,
// tenths of a second up to ten seconds, and otherwise seconds. Examples are "85ms", "2.5s", "40s" and "1h30m".
func Short(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < 10*time.Second:
		unit = 100 * time.Millisecond
	}
	return Duration(d.Round(unit))
}

// InSeconds returns d as a number of seconds. Unlike [time.Duration.Seconds], it rounds only once, so that the
// last digit is correct.
func InSeconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

// Number formats n with all its digits, and without an exponent.
func Number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// Counts formats the count of each kind, in the given order, as in "4 success, 1 timeout". It leaves out kinds with
// a count of 0.
func Counts[K ~string](number map[K]int, order ...K) string {
	var parts []string
	for _, kind := range order {
		if n := number[kind]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(kind))
		}
	}
	return strings.Join(parts, ", ")
}

// Count formats a number and a noun, as in "1 attempt" or "2 attempts".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// OneLine returns s as a single line: white space becomes spaces, and characters that cannot be printed become
// U+FFFD.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Cut returns the first max characters of s, or all of s if it has no more than max characters.
func Cut(s string, max int) string {
	for i := range s {
		if max--; max < 0 {
			return s[:i]
		}
	}
	return s
}

// Shorten returns s or, if s is longer than max characters, the first max characters of s, followed by "...".
func Shorten(s string, max int) string {
	if short := Cut(s, max); len(short) < len(s) {
		return short + "..."
	}
	return s
}

// Pattern returns a function that returns the compiled form of the regular expression source. The function compiles
// source on its first call, because most runs need only few of poll's regular expressions. It panics if source is
// malformed.
func Pattern(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// MaxExcerpt is the maximum length, in characters, of a line that [Excerpt] returns.
const MaxExcerpt = 240

// IsKlog reports whether line starts with the prefix of klog, the logger of kubectl and much of Kubernetes. The
// prefix consists of the level and date, the time, the process ID, and the source position.
func IsKlog(line []byte) bool { return klog().Match(line) }

// klog matches the prefix of klog. logTime matches the time, with or without a date, that other loggers put at the
// start of a line: alone, in brackets, or as the first key of logfmt.
var (
	klog    = Pattern(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^ \]]+:\d+\] +`)
	logTime = Pattern(`^(?:time="?|[\[(])?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?["\])]?[:,]? +(?:- +)?`)
)

// Excerpt returns the part of line that is suitable as a reason. It removes the prefix of a logger, which would
// make the reason different in each attempt, and shortens the rest to [MaxExcerpt] characters.
func Excerpt(line []byte) string {
	line = bytes.TrimSpace(line)
	line = line[len(klog().Find(line)):]
	line = line[len(logTime().Find(line)):]
	return Shorten(string(line), MaxExcerpt)
}

// Longest is the longest duration, which is about 292 years.
const Longest = time.Duration(math.MaxInt64)

// Sum returns a + b, or [Longest] if the sum would overflow. A negative duration counts as 0.
func Sum(a, b time.Duration) time.Duration {
	a = max(a, 0)
	return a + min(max(b, 0), Longest-a)
}

// Nanoseconds converts a number of nanoseconds to a duration. If ns is negative, it returns 0. If ns is too large,
// it returns [Longest]. It also returns Longest for NaN, which is the product of 0 and infinity, because a wait
// that is too long does less harm than no wait. It rounds halves to even, so that rounding does not shift the mean
// of many durations.
func Nanoseconds(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	}
	return Longest
}

// leastBeginning is the minimum length of an abbreviation: the number of letters that can stand for a longer word.
const leastBeginning = 3

// Nearest returns the only candidate that starts with word, if word has at least three letters. Otherwise, it
// returns the candidate that differs from word in the fewest letters, or "" if every candidate differs too much. A
// candidate that differs in more than one letter must have the same first letter, because people seldom mistype
// the first letter.
func Nearest(word string, candidates []string) string {
	best, least, longer := "", max(1, len(word)/3)+1, []string(nil)
	for _, c := range candidates {
		if strings.HasPrefix(c, word) {
			longer = append(longer, c)
		}
		if len(word)-len(c) >= least || len(c)-len(word) >= least {
			continue // saves time if word is very long
		}
		if d := distance(word, c); d < least && (d < 2 || word[0] == c[0]) {
			best, least = c, d
		}
	}
	if len(longer) == 1 && len(word) >= leastBeginning {
		return longer[0]
	}
	return best
}

// distance returns the number of single-letter changes that turn a into b. This is the Levenshtein distance,
// except that swapping two neighboring letters counts as one change.
func distance(a, b string) int {
	var before, row []int
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i := range len(a) {
		next := []int{i + 1}
		for j := range len(b) {
			least := min(row[j], row[j+1]+1, next[j]+1)
			if a[i] != b[j] {
				least = min(row[j], row[j+1], next[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				least = min(least, before[j-1]+1)
			}
			next = append(next, least)
		}
		before, row = row, next
	}
	return row[len(b)]
}
