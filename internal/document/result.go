package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// isDoubtful reports whether the value of a member is a text with a word for an open or failed state,
// or whether the member has the name of a status and its number is neither 0 nor from 200 to 299.
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
