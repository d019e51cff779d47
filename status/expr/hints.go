package expr

import (
	"cmp"
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

//go:embed hints.txt
var hintText string

// A row of hints.txt contains a message and a hint for the strings that match a pattern.
type row struct {
	part          string                // a substring of every string that the pattern matches; "" for none
	pattern       func() *regexp.Regexp // compiled when it is first used
	message, hint string
}

// rows returns the rows of hints.txt, keyed by the name in their first cell. The name states which strings the row
// is for, such as "whole" for the source of an expression. The name may be followed by "with" and a substring of
// every string that matches, so that the pattern is not compiled for other strings.
var rows = sync.OnceValue(func() map[string][]row {
	rows := make(map[string][]row)
	for line := range strings.Lines(hintText) {
		cells := append(strings.Split(line, "::"), "", "")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(line, "#") && cells[1] != "" {
			name, part, _ := strings.Cut(cells[0], " with ")
			rows[name] = append(rows[name], row{part, words.Pattern(cells[1]), cells[2], cells[3]})
		}
	}
	return rows
})

// findRow returns the message and the hint of the first row of hints.txt whose name is about and whose pattern
// matches text. found is false if there is no such row.
func findRow(about, text string) (message, hint string, found bool) {
	for _, row := range rows()[about] {
		if !strings.Contains(text, row.part) {
			continue
		}
		if m := row.pattern().FindStringSubmatchIndex(text); m != nil {
			expand := func(cell string) string {
				cell = strings.NewReplacer("$_", "\x00", "$<", "\x01", "$>", "\x02").Replace(cell)
				cell = string(row.pattern().ExpandString(nil, cell, text, m))
				return strings.NewReplacer("\x00", text, "\x01", text[:m[0]], "\x02", text[m[1]:]).Replace(cell)
			}
			return expand(row.message), expand(row.hint), true
		}
	}
	return "", "", false
}

// Patterns for JMESPath. foreignPart matches a sign that an expression is JMESPath: a filter, a literal in
// backquotes, or a function with an argument. foreignLiteral matches a literal, and foreignName the name and the
// operator of a comparison.
var (
	foreignPart    = words.Pattern("\\[\\?|`[^`\\s]+`|(?:contains|_with)\\(")
	foreignLiteral = words.Pattern("`[^`\\s]+`|'[^'\"\\\\]*'")
	foreignName    = words.Pattern(`(^|[^$.\w])@?\.?([\pL_][\w.]*) *([=!]=|[<>]=?) *`)
)

// fromJMESPath translates the names and literals of a JMESPath expression into the language of this package. It
// returns text unchanged if text does not look like JMESPath.
func fromJMESPath(text string) string {
	if !foreignPart().MatchString(text) {
		return text
	}
	text = foreignName().ReplaceAllString(text, "$1.$2 $3 ")
	return foreignLiteral().ReplaceAllStringFunc(text, func(literal string) string {
		inner := literal[1 : len(literal)-1]
		if literal[0] == '`' && gjson.Valid(inner) {
			return inner
		}
		return `"` + inner + `"`
	})
}

// Limits on the members of an object in hints.
const (
	maxMembers      = 1000 // the number of members whose names are compared
	maxMembersShown = 5    // the number of members that a hint lists
	maxMemberName   = 40   // the length of a name in characters
)

// The hints of an evaluation are suggestions for paths that lead nowhere in a response. The suggestions contain
// names of members, but no values.
type hints struct {
	near []string // hints such as "did you mean .state?"
	has  []string // hints such as "the document has: state, progress"

	ofList bool // the path should lead to a list, so hints name only those members that are lists, if there are any
}

// addMember adds a hint about key, which an object lacks. The hint suggests the member with the most similar name.
// If no name is similar, the hint lists the members. before is the path of the object. If before is "", the hint
// calls the object whole, such as "the document".
func (h *hints) addMember(key, before, whole string, members iter.Seq2[string, value]) {
	var names, lists []string
	for name, v := range members {
		if name != "" {
			names = append(names, name)
		}
		if name != "" && h.ofList && v.kind == kindArray {
			lists = append(lists, name)
		}
		if len(names) == maxMembers {
			break
		}
	}
	has := " has: "
	if lists != nil {
		names, has = lists, " has lists: "
	}
	if near := nearestMember(key, names); near != "" {
		h.near = append(h.near, words.OneLine("did you mean "+memberPath(before, near)+"?"))
		return
	}
	if len(names) > maxMembersShown {
		names = append(names[:maxMembersShown], "...")
	}
	for i, name := range names {
		names[i] = words.Shorten(name, maxMemberName)
	}
	if len(names) > 0 {
		h.has = append(h.has, words.OneLine(cmp.Or(before, whole)+has+strings.Join(names, ", ")))
	}
}

// missingWord matches a line of an explanation that reports a missing value for a path without a dot. The group is
// the first word of the path.
var missingWord = words.Pattern(`^(\pL\w+)\S* is (?:missing|unknown: the body)`)

// nearVariable returns the name of the variable probably meant by the path at the start of line, as in "status is
// missing". It returns "" if no variable has a similar name.
func nearVariable(line string) string {
	if m := missingWord().FindStringSubmatch(line); m != nil {
		if name := words.Nearest(m[1], strings.Fields(facts)); name != "" && name[0] == m[1][0] {
			return name
		}
	}
	return ""
}

// nearestMember returns the element of names that word probably stands for, or "" if no name is similar.
func nearestMember(word string, names []string) string {
	short := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > maxMemberName })
	if i := slices.IndexFunc(short, func(name string) bool { return strings.EqualFold(name, word) }); i >= 0 {
		return short[i]
	}
	if len(word) < 3 || len(word) > maxMemberName {
		return "" // every short name would be similar
	}
	return words.Nearest(word, short)
}

// plainName matches a name that can follow a dot in a path without quotes.
var plainName = words.Pattern(`^[\pL_][\pL\pNd_]*$`)

// memberPath returns the path of the member called name, where before is the path of its object.
func memberPath(before, name string) string {
	if plainName().MatchString(name) {
		return before + "." + name
	}
	return cmp.Or(before, ".") + "[" + preview(name) + "]"
}
