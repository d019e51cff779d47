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
