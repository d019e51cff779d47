package argv

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pollcli/poll/words"
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

func notOneOf(word string, words []string) *UsageError {
	return Usagef("%q is not one of %s", word, strings.Join(words, ", ")).Meant(word, words)
}

// A Conflict is a pair of flags that exclude each other.
type Conflict struct {
	Flag, Other string
	// Unless is a value of Other that does not conflict; "" means none.
	Unless string
	// Only is the one value of Other that conflicts; "" means any.
	Only string
}

// Conflicting returns the conflicts of a flag with several others.
func Conflicting(flag string, others ...string) []Conflict {
	var list []Conflict
	for _, other := range others {
		list = append(list, Conflict{Flag: flag, Other: other})
	}
	return list
}

// refuseConflicts refuses two flags of one rank that contradict each other, and drops the one
// of the lower rank.
func (l *Line) refuseConflicts() error {
	for _, c := range l.Command.Conflicts {
		one, other := l.Flag(c.Flag), l.Flag(c.Other)
		switch {
		case one == nil || other == nil || !one.Given() || !other.Given():
		case other.text() == c.Unless || c.Only != "" && other.text() != c.Only:
		case one.set.rank < other.set.rank:
			one.clear()
		case other.set.rank < one.set.rank:
			other.clear()
		default:
			return Usagef("%s and %s contradict each other: give one of them", one.spelled(), other.spelled())
		}
	}
	return nil
}

// spelled names a flag, with its value where that is one of a few words.
func (f *Flag) spelled() string {
	if f.Words != nil {
		return f.Origin() + " " + f.text()
	}
	return f.Origin()
}
