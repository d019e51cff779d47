package argv

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

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

// Advise adds what [Advice] says about something mistyped.
func (e *UsageError) Advise(about string) *UsageError { return e.Hint("%s", Advice(about)) }

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

// IsUsage reports whether err is a usage error.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

// hints has what to say of words that are often mistyped: a pattern of the word and what it
// stands for, a tab, and the words, in which {1} is the pattern's first group.
//
//go:embed hints.txt
var hints string

// Advice returns the words of the first pattern that matches all of a text, "" for none.
func Advice(about string) string {
	subject, _, _ := strings.Cut(about, " ")
	for row := range strings.Lines(hints) {
		pattern, words, isRow := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !isRow || !strings.HasPrefix(pattern, subject+" ") {
			continue
		}
		if m := regexp.MustCompile("^(?s:" + pattern + ")$").FindStringSubmatch(about); m != nil {
			for i, group := range m {
				words = strings.ReplaceAll(words, fmt.Sprintf("{%d}", i), group)
			}
			return words
		}
	}
	return ""
}
