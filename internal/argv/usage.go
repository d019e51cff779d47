package argv

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
)

// A UsageError is an error in the command line, found before the first attempt. Hints are advice for the user.
type UsageError struct {
	Err   error
	Hints []string
}

// Usagef returns a usage error with a formatted message. If the message wraps another usage error, Usagef keeps
// its hints.
func Usagef(format string, args ...any) *UsageError {
	e := &UsageError{Err: fmt.Errorf(format, args...)}
	if inner, ok := errors.AsType[*UsageError](errors.Unwrap(e.Err)); ok {
		e.Hints = inner.Hints
	}
	return e
}

// Hint adds a formatted hint to e, unless the hint is empty, and returns e.
func (e *UsageError) Hint(format string, args ...any) *UsageError {
	if hint := fmt.Sprintf(format, args...); hint != "" {
		e.Hints = append(e.Hints, hint)
	}
	return e
}

// Advise adds a hint from [Advice] to e, and returns e. It adds the hint for the first of abouts that has a
// hint.
func (e *UsageError) Advise(abouts ...string) *UsageError {
	for _, about := range abouts {
		if _, hint := Advice(about); hint != "" {
			return e.Hint("%s", hint)
		}
	}
	return e
}

// Meant adds the hint "did you mean" to e, and returns e. It names the candidate that is closest to word. It
// adds nothing if no candidate is close.
func (e *UsageError) Meant(word string, candidates []string) *UsageError {
	if meant := words.Nearest(word, candidates); meant != "" {
		return e.Hint("did you mean %s?", meant)
	}
	return e
}

// Error returns the message without the hints.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the hints.
func (e *UsageError) Unwrap() error { return e.Err }

// NotApplicable returns the error that flag does not apply to a wait of kind. origin is the name of the setting
// in the message.
func NotApplicable(flag, origin, kind string) error {
	why, hint := Advice("inapplicable " + flag + " " + kind)
	return Usagef("%s %s", origin, why).Hint("%s", hint)
}

// IsUsage reports whether err is or wraps a usage error.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

// hints is the content of hints.txt, whose head explains its three columns.
//
//go:embed hints.txt
var hints string

// A hintRow is a row of hints.txt.
type hintRow struct {
	pattern       func() *regexp.Regexp
	meaning, hint string
}

// hintTable returns the rows of hints.txt by the first word of their patterns. It parses the file at the first
// call.
var hintTable = sync.OnceValue(func() map[string][]hintRow {
	table := make(map[string][]hintRow)
	for line := range strings.Lines(hints) {
		subject, _, _ := strings.Cut(line, " ")
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if subject != "#" {
			table[subject] = append(table[subject], hintRow{words.Pattern("^(?s:" + columns[0] + ")$"), columns[1], columns[2]})
		}
	}
	return table
})

// Advice returns the meaning of a mistyped text and a hint, from the first row of hints.txt whose pattern
// matches all of about. It returns "" for an empty column, and if no row matches.
func Advice(about string) (meaning, hint string) {
	subject, _, _ := strings.Cut(about, " ")
	for _, row := range hintTable()[subject] {
		if m := row.pattern().FindStringSubmatch(about); m != nil {
			var groups []string
			for i, group := range m {
				groups = append(groups, fmt.Sprintf("{%d}", i), group)
			}
			filled := strings.NewReplacer(groups...)
			return filled.Replace(row.meaning), filled.Replace(row.hint)
		}
	}
	return "", ""
}
