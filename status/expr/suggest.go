package expr

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/jq"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// maxSuggested is the longest expression, in bytes, for which another one is suggested.
const maxSuggested = 2 << 10

// suggest adds to the error of an expression what means in poll, and to jq, what it means
// in jq.
func (e *Error) suggest(condition bool, o options) {
	if len(e.Source) > maxSuggested {
		return
	}
	p, err := jq.Compile(e.Source, syntax.VariableNames(), o.environ)
	if err != nil {
		return
	}
	// What is wrong in both languages, such as text that is always true, is not for jq.
	wrong := func(part string) bool { return strings.Contains(e.Message, part) }
	if !wrong("always") && !wrong("unexpected") && !wrong("malformed") && !(condition && p.Gives != "") {
		e.JQ = jqPrefix + " " + strings.TrimSpace(e.Source)
	}
	text, several := jq.Native(e.Source, condition, func(src string, condition bool) bool {
		_, err := syntax.Parse(src, condition, o.environ)
		return err == nil
	})
	if text == "" {
		return
	}
	hint := "write " + text
	if several && condition {
		hint += " if one of them is enough, and all(...) if each must be so"
	}
	if i := strings.LastIndex(e.Hint, "; ."); i >= 0 && strings.HasSuffix(e.Hint, " field") {
		hint += e.Hint[i:] // the other meaning of the word
	}
	e.Instead, e.Hint = text, hint
}
