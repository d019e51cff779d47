package expr

import (
	"cmp"
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
)

//go:embed hints.txt
var hintText string

// A row of hints.txt has the message and the hint for the texts that match a pattern.
type row struct {
	pattern       func() *regexp.Regexp // compiled at its first use
	message, hint string
}

// rows returns the rows of hints.txt by their first cells, which name the subjects of the texts.
var rows = sync.OnceValue(func() map[string][]row {
	rows := make(map[string][]row)
	for line := range strings.Lines(hintText) {
		cells := append(strings.Split(line, "::"), "", "")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(line, "#") && cells[1] != "" {
			rows[cells[0]] = append(rows[cells[0]], row{words.Pattern(cells[1]), cells[2], cells[3]})
		}
	}
	return rows
})

// findRow returns the message and the hint of the first row about something whose pattern matches a text.
func findRow(about, text string) (message, hint string, found bool) {
	for _, row := range rows()[about] {
		if m := row.pattern().FindStringSubmatchIndex(text); m != nil {
			expand := func(cell string) string {
				cell = string(row.pattern().ExpandString(nil, strings.ReplaceAll(cell, "$_", "\x00"), text, m))
				return strings.ReplaceAll(cell, "\x00", text)
			}
			return expand(row.message), expand(row.hint), true
		}
	}
	return "", "", false
}

// Limits on the members of an object in hints.
const (
	maxMembers      = 1000 // compared
	maxMembersShown = 5
	maxMemberName   = 40 // in characters
)

// The hints of an evaluation are suggestions for paths that lead nowhere in a response. They show names of
// members, never values.
type hints struct {
	near []string // did you mean .state?
	has  []string // the document has: state, progress
}

// addMember adds the member that was meant by a missing key of an object or, if no key is near, the keys of the object.
// The object is at the path before the key, or is the whole.
func (h *hints) addMember(key, before, whole string, members iter.Seq2[string, value]) {
	var names []string
	for name := range members {
		if name != "" {
			names = append(names, name)
		}
		if len(names) == maxMembers {
			break
		}
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
		h.has = append(h.has, words.OneLine(cmp.Or(before, whole)+" has: "+strings.Join(names, ", ")))
	}
}

// missingWord matches the line for a path without a dot that leads nowhere. The group is its first word.
var missingWord = words.Pattern(`^(\pL\w+)\S* is (?:missing|unknown: the body)`)

// nearVariable returns the name of the variable that a missing word probably means, "" if no name of a variable is near.
func nearVariable(line string) string {
	if m := missingWord().FindStringSubmatch(line); m != nil {
		if name := words.Nearest(m[1], strings.Fields(facts)); name != "" && name[0] == m[1][0] {
			return name
		}
	}
	return ""
}

// nearestMember returns the name that a word probably means, "" if no name is near.
func nearestMember(word string, names []string) string {
	short := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > maxMemberName })
	if i := slices.IndexFunc(short, func(name string) bool { return strings.EqualFold(name, word) }); i >= 0 {
		return short[i]
	}
	if len(word) < 3 || len(word) > maxMemberName {
		return "" // nearly every name is near
	}
	return words.Nearest(word, short)
}

// plainName matches a name that needs no quotes in a path.
var plainName = words.Pattern(`^[\pL_][\pL\pNd_]*$`)

// memberPath returns the path of a member of the object at a path.
func memberPath(before, name string) string {
	if plainName().MatchString(name) {
		return before + "." + name
	}
	return cmp.Or(before, ".") + "[" + preview(name) + "]"
}
