package expr

import (
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// find reads what the steps of a lookup lead to. It looks on where keys are equal,
// or match a pattern, and what the first of them holds does not lead further.
func (e *evaluator) find(v value, h *syntax.Lookup) value {
	if h.Wild {
		return e.findGlob(v, h.Steps)
	}
	return fromResult(gjson.Get(v.raw, h.GJSON))
}

// findGlob does so for steps of which some are patterns, which gjson matches in
// exponential time.
func (e *evaluator) findGlob(v value, steps []syntax.Step) value {
	found := missing()
	if v.kind != KindObject && v.kind != KindArray {
		return found
	}
	e.tick(len(v.raw))
	gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, member gjson.Result) bool {
		e.tick(baseSteps)
		if !e.leads(&steps[0], v.kind, key) {
			return true
		}
		if found = fromResult(member); len(steps) > 1 {
			found = e.findGlob(found, steps[1:])
		}
		return found.kind == KindMissing
	})
	return found
}

// leads reports whether a step is to a member of an object or of a list.
func (e *evaluator) leads(s *syntax.Step, in Kind, key gjson.Result) bool {
	switch {
	case in == KindArray:
		n, err := strconv.Atoi(s.Key)
		return err == nil && s.Glob == "" && n == int(key.Num)
	case s.Glob != "":
		return e.like(key.Str, s.Glob)
	}
	return key.Str == s.Key
}

// like reports whether text matches a pattern of gjson: * is any text, ? is one
// character, \ takes the meaning from what follows. The time is at most the
// product of the lengths; gjson itself gives up and says no.
func (e *evaluator) like(text, pattern string) bool {
	e.tick(len(text))
	star, mark := -1, 0 // where the last * was, and what it has eaten up to
	i, j := 0, 0
	for i < len(text) {
		if j < len(pattern) && pattern[j] == '*' {
			star, mark = j, i
			j++
			continue
		}
		if n, m := likeOne(text[i:], pattern[j:]); m > 0 {
			i, j = i+n, j+m
			continue
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[mark:])
		e.tick(i - mark + size)
		mark += size
		i, j = mark, star+1
	}
	for j < len(pattern) && pattern[j] == '*' {
		j++
	}
	return j == len(pattern)
}

// likeOne matches one character, and returns how much of text and of pattern it
// took; 0 if it does not match.
func likeOne(text, pattern string) (int, int) {
	if pattern == "" {
		return 0, 0
	}
	_, n := utf8.DecodeRuneInString(text)
	if pattern[0] == '?' {
		return n, 1
	}
	skip := 0
	if pattern[0] == '\\' && len(pattern) > 1 {
		skip = 1
	}
	_, m := utf8.DecodeRuneInString(pattern[skip:])
	if text[:n] != pattern[skip:skip+m] {
		return 0, 0
	}
	return n, skip + m
}
