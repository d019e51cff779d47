// Package words formats durations, numbers, counts and foreign text, so that the whole program writes them alike,
// and finds the word that a misspelled word stands for. It also adds durations, compiles patterns, and quotes
// command lines for cmd.exe.
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

// Duration formats a duration for people: "100ms", "3.075s", "1h18m18s", "4d12h".
// It rounds to milliseconds, and from a minute on to seconds. The longest duration
// stands for all longer ones.
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

// Short formats a duration with the two or three digits a sentence needs: "85ms",
// "2.5s", "40s", "1h30m".
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

// InSeconds converts to seconds. [time.Duration.Seconds] rounds twice, which shows
// in the last digit.
func InSeconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

// Number formats a number in full, without an exponent.
func Number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// Counts formats the number of each kind, in order, without the zeros: "4 success, 1 timeout".
func Counts[K ~string](number map[K]int, order ...K) string {
	var parts []string
	for _, kind := range order {
		if n := number[kind]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(kind))
		}
	}
	return strings.Join(parts, ", ")
}

// Count formats a number of things: "1 attempt", "2 attempts".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// OneLine returns text for one line: white space becomes blanks, and unprintable characters become U+FFFD.
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

// Cut returns at most the first max characters of s.
func Cut(s string, max int) string {
	for i := range s {
		if max--; max < 0 {
			return s[:i]
		}
	}
	return s
}

// Shorten returns s or, if it is longer than max characters, the first of them and "...".
func Shorten(s string, max int) string {
	if short := Cut(s, max); len(short) < len(s) {
		return short + "..."
	}
	return s
}

// Pattern returns a function that returns the regular expression of a source. It compiles the source at its
// first call, since most runs need few of the expressions.
func Pattern(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// MaxExcerpt is the length in characters to which [Excerpt] cuts a line.
const MaxExcerpt = 240

// IsKlog reports whether a line has the prefix of klog, the logger of kubectl and much of Kubernetes: level and date,
// time, process id, place in the source.
func IsKlog(line []byte) bool { return klog().Match(line) }

// klog matches the prefix of klog, and logTime the date and time, or the time alone, of other loggers: bare, in
// brackets, or as the first key of logfmt.
var (
	klog    = Pattern(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^ \]]+:\d+\] +`)
	logTime = Pattern(`^(?:time="?|[\[(])?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?["\])]?[:,]? +(?:- +)?`)
)

// Excerpt returns the part of a line that goes into a reason. Without the prefix of a logger the reason is the same
// at each attempt.
func Excerpt(line []byte) string {
	line = bytes.TrimSpace(line)
	line = line[len(klog().Find(line)):]
	line = line[len(logTime().Find(line)):]
	return Shorten(string(line), MaxExcerpt)
}

// Longest is the longest duration, about 292 years.
const Longest = time.Duration(math.MaxInt64)

// Sum returns a + b, or [Longest] if the sum would overflow. A negative duration counts as 0.
func Sum(a, b time.Duration) time.Duration {
	a = max(a, 0)
	return a + min(max(b, 0), Longest-a)
}

// Nanoseconds converts a number of nanoseconds to a duration. It returns 0 for a negative number, and [Longest]
// for a number that does not fit. It returns Longest for NaN, too, which is the product of 0 and infinity: a wait
// that is too long is a nuisance, but no wait is a flood. Halves are rounded to even, so that means stay true.
func Nanoseconds(ns float64) time.Duration {
	switch {
	case ns <= 0:
		return 0
	case ns < math.MaxInt64: // exactly 2^63 as a float64
		return time.Duration(math.RoundToEven(ns))
	}
	return Longest
}

// leastBeginning is the number of letters that identify a word.
const leastBeginning = 3

// Nearest returns the candidate that starts with word, if exactly one candidate does. Otherwise it returns the
// candidate that differs least, or "" if no candidate is close. If more than one letter differs, the first letter
// must match, since people seldom mistype it.
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

// distance counts the single-letter changes between two words (Levenshtein, with a
// swap of two neighbours as one change).
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
