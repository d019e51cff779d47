package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// isDoubtful reports whether m makes it doubtful that a document is the result of an operation. A member with
// the name of a status code is doubtful if its number is neither 0 nor from 200 to 299. Any other member is
// doubtful if its value is a string with a word for an open or failed state. A string with a slash is not
// doubtful, since it may be a URL.
func (m member) isDoubtful() bool {
	text := string(m.raw)
	if slices.Contains([]string{"code", "statuscode", "httpcode", "httpstatus", "httpstatuscode"}, flattened(m.name)) {
		n, err := strconv.Atoi(strings.Trim(text, `"`))
		return err == nil && n != 0 && n/100 != 2
	}
	isURL := strings.Contains(text, "/")
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	return text[0] == '"' && len(text) <= maxWord && !isURL && slices.ContainsFunc(append(words, text), func(word string) bool {
		stage := stageOf(word)
		return stage == Open || stage == Failed
	})
}
