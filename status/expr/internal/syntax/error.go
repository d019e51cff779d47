package syntax

import (
	"fmt"
	"unicode/utf8"
)

// A Error says why an expression does not compile.
type Error struct {
	Source  string // the expression
	Offset  int    // where in Source, in bytes from 0; at most len(Source)
	Column  int    // the same in characters from 1, for a caret
	Message string // what is wrong: "done is not quoted"
	Hint    string // what to write instead, "" if nothing can be said
	// Instead is an expression that means what Source means in jq, "" where none
	// is known. Hint then shows it.
	Instead string
}

// errorAt makes the error for the byte offset pos of src.
func errorAt(src string, pos int, hint, format string, args ...any) *Error {
	pos = min(max(pos, 0), len(src))
	return &Error{
		Source:  src,
		Offset:  pos,
		Column:  utf8.RuneCountInString(src[:pos]) + 1,
		Message: fmt.Sprintf(format, args...),
		Hint:    hint,
	}
}
