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

// A UsageError is an error in the command line: nothing was done.
type UsageError struct {
	Err   error
	Hints []string
}

// Usagef makes a usage error, which keeps the hints of the errors it wraps.
func Usagef(format string, args ...any) *UsageError {
	e := &UsageError{Err: fmt.Errorf(format, args...)}
	if inner, ok := errors.AsType[*UsageError](errors.Unwrap(e.Err)); ok {
		e.Hints = inner.Hints
	}
	return e
}

// Hint adds advice on what to do, unless it is empty.
func (e *UsageError) Hint(format string, args ...any) *UsageError {
	if hint := fmt.Sprintf(format, args...); hint != "" {
		e.Hints = append(e.Hints, hint)
	}
	return e
}

// Advise adds the hint that [Advice] has for something mistyped: the first of several.
func (e *UsageError) Advise(abouts ...string) *UsageError {
	for _, about := range abouts {
		if _, hint := Advice(about); hint != "" {
			return e.Hint("%s", hint)
		}
	}
	return e
}

// Meant adds a hint to the candidate that word was probably meant to be, if one
// is close.
func (e *UsageError) Meant(word string, candidates []string) *UsageError {
	if meant := words.Nearest(word, candidates); meant != "" {
		return e.Hint("did you mean %s?", meant)
	}
	return e
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// NotApplicable returns the error that a wait of some kind cannot have a flag, which origin names.
func NotApplicable(flag, origin, kind string) error {
	why, hint := Advice("inapplicable " + flag + " " + kind)
	return Usagef("%s %s", origin, why).Hint("%s", hint)
}

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

// hints has rows of three columns, which its head explains.
//
//go:embed hints.txt
var hints string

// A hintRow is a row of hints.txt.
type hintRow struct {
	pattern       func() *regexp.Regexp
	meaning, hint string
}

// hintTable returns the rows of hints.txt by the first word of their patterns.
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

// Advice returns what a mistyped text means and a hint, from the first row whose pattern matches
// the whole text. It returns "" for what the row does not have.
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
