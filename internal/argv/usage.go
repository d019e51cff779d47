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

// A UsageError is an error in the command line or in a file that it names, found before the first attempt. Hints
// holds advice for the user.
type UsageError struct {
	Err   error
	Hints []string
}

// Usagef returns a UsageError whose message is formatted as by [fmt.Errorf]. If the message wraps a UsageError,
// the result has the hints of the wrapped error.
func Usagef(format string, args ...any) *UsageError {
	e := &UsageError{Err: fmt.Errorf(format, args...)}
	if inner, ok := errors.AsType[*UsageError](errors.Unwrap(e.Err)); ok {
		e.Hints = inner.Hints
	}
	return e
}

// Hint formats a hint, appends it to e.Hints unless it is empty, and returns e.
func (e *UsageError) Hint(format string, args ...any) *UsageError {
	if hint := fmt.Sprintf(format, args...); hint != "" {
		e.Hints = append(e.Hints, hint)
	}
	return e
}

// Advise appends a hint from hints.txt to e.Hints, and returns e. It passes the strings in abouts to [Advice] in
// order, and uses the first hint that Advice returns.
func (e *UsageError) Advise(abouts ...string) *UsageError {
	for _, about := range abouts {
		if _, hint := Advice(about); hint != "" {
			return e.Hint("%s", hint)
		}
	}
	return e
}

// Meant appends the hint "did you mean CANDIDATE?" to e.Hints, and returns e. The hint names the candidate that is
// most similar to word. Meant adds no hint if no candidate is similar.
func (e *UsageError) Meant(word string, candidates []string) *UsageError {
	if meant := words.Nearest(word, candidates); meant != "" {
		return e.Hint("did you mean %s?", meant)
	}
	return e
}

// Error returns the error message, without the hints.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *UsageError) Unwrap() error { return e.Err }

// NotApplicable returns the error for a flag that does not apply to the given kind of wait. In the message, origin
// names the setting. The explanation and the hint come from hints.txt.
func NotApplicable(flag, origin, kind string) error {
	why, hint := Advice("inapplicable " + flag + " " + kind)
	return Usagef("%s %s", origin, why).Hint("%s", hint)
}

// IsUsage reports whether err is or wraps a [UsageError].
func IsUsage(err error) bool { return errors.As(err, new(*UsageError)) }

// hints is the content of hints.txt. The comment at the top of that file explains its three columns.
//
//go:embed hints.txt
var hints string

// A hintRow is a parsed line of hints.txt.
type hintRow struct {
	pattern       func() *regexp.Regexp
	meaning, hint string
}

// hintTable returns the lines of hints.txt, grouped by the first word of their patterns. Each group is a function
// that returns the group's rows. The function parses the lines on its first call, because most runs need few groups.
var hintTable = sync.OnceValue(func() map[string]func() []hintRow {
	groups, table := make(map[string][]string), make(map[string]func() []hintRow)
	for line := range strings.Lines(hints) {
		subject, _, _ := strings.Cut(line, " ")
		groups[subject] = append(groups[subject], line)
	}
	for subject, lines := range groups {
		table[subject] = sync.OnceValue(func() (rows []hintRow) {
			for _, line := range lines {
				columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
				rows = append(rows, hintRow{words.Pattern("^(?s:" + columns[0] + ")$"), columns[1], columns[2]})
			}
			return rows
		})
	}
	return table
})

// Advice looks up about in hints.txt. It uses the first row whose pattern matches the whole string, and returns
// the row's second column as meaning and its third as hint. The text "{N}" in a column stands for the match's Nth
// group. Advice returns two empty strings if no row matches.
func Advice(about string) (meaning, hint string) {
	subject, _, _ := strings.Cut(about, " ")
	if rows := hintTable()[subject]; rows != nil {
		for _, row := range rows() {
			if m := row.pattern().FindStringSubmatch(about); m != nil {
				var groups []string
				for i, group := range m {
					groups = append(groups, fmt.Sprintf("{%d}", i), group)
				}
				filled := strings.NewReplacer(groups...)
				return filled.Replace(row.meaning), filled.Replace(row.hint)
			}
		}
	}
	return "", ""
}
