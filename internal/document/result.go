package document

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// IsResult reports whether a JSON document may be the result of an operation: an object with a
// member or a list with an element, without a member that may report that the operation is running
// or has failed. The members of an object in the document count, too.
func IsResult(document []byte) bool {
	var items []json.RawMessage
	if json.Unmarshal(document, &items) == nil {
		return len(items) > 0
	}
	members := membersOf(document)
	return len(members) > 0 && !slices.ContainsFunc(members, func(m member) bool {
		return m.isDoubtful() || slices.ContainsFunc(membersOf(m.raw), member.isDoubtful)
	})
}

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
