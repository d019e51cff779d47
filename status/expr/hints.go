package expr

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/internal/words"
)

//go:embed hints.txt
var hintText string

// A row of hints.txt corrects a habit from another language.
type hintRow struct {
	about         string
	pattern       func() *regexp.Regexp // compiled when it is needed
	message, hint string
}

var hintTable = sync.OnceValue(func() (rows []hintRow) {
	for line := range strings.Lines(hintText) {
		cells := append(strings.Split(line, "::"), "", "")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(line, "#") && cells[1] != "" {
			rows = append(rows, hintRow{cells[0], words.Pattern(cells[1]), cells[2], cells[3]})
		}
	}
	return rows
})

// findHint returns the texts of the first row about something whose pattern matches a text.
func findHint(about, text string) (message, hint string, found bool) {
	for _, row := range hintTable() {
		if row.about != about {
			continue
		}
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

// check fails at an offset if a row about something matches a text.
func (p *parser) check(about, text string, at int) {
	if message, hint, found := findHint(about, text); found && message != "" {
		p.fail(at, hint, "%s", message)
	}
}

// refuse fails at an offset, in the words that the table has for a text.
func (p *parser) refuse(about, text string, at int) {
	p.check(about, text, at)
	r, _ := utf8.DecodeRuneInString(text)
	p.fail(at, `a key with such a character is written ["a`+string(r)+`b"]`, "unexpected %s", words.OneLine(string(r)))
}

// refuseIf refuses a text at an offset if it is wrong.
func (p *parser) refuseIf(wrong bool, about, text string, at int) {
	if wrong {
		p.refuse(about, text, at)
	}
}

// unexpected refuses a token that cannot follow an operand.
func (p *parser) unexpected() {
	p.check("unexpected", p.src[p.pos:], p.pos)
	p.refuse("sign", p.src[p.pos:], p.pos)
}

// recover takes the *Error that a parser ended with. A row about "whole" replaces its message and
// hint.
func (p *parser) recover(err *error) {
	switch problem := recover().(type) {
	case nil:
	case *Error:
		if message, hint, found := findHint("whole", p.src); found && !p.list {
			problem.Message, problem.Hint = cmp.Or(message, problem.Message), cmp.Or(hint, problem.Hint)
		}
		if *err = problem; !p.list && !isJQ(p.src) {
			problem.letJQ()
		}
	default:
		panic(problem)
	}
}

// letJQ adds to the error of an expression that jq can decide, if it can. What is wrong in both
// languages, such as text that is always true, or has several values, is not for jq.
func (e *Error) letJQ() {
	if _, _, found := findHint("not jq", e.Message+" -- "+e.Source); found {
		return
	}
	query, err := gojq.Parse(e.Source)
	if err != nil || !decides(lastStage(query)) {
		return
	}
	if _, err = Compile(jqPrefix+e.Source, WithEnviron(func(string) (string, bool) { return "any", true })); err == nil {
		e.Hint = strings.TrimPrefix(e.Hint+"; or let jq decide: write jq: before it", "; or ")
	}
}

// decides reports whether a program, whose last stage is given, may give true or false.
func decides(last *gojq.Query) bool {
	isTest := last.Term != nil && last.Term.Type == gojq.TermTypeFunc && isOneOf(last.Term.Func.Name, testFunctions+"any all not isempty inside ")
	return isTest || gojq.OpEq <= last.Op && last.Op <= gojq.OpOr
}

// Limits on the members of an object in hints.
const (
	maxMembers      = 1000 // looked at
	maxMembersShown = 5
	maxMemberName   = 40 // in characters
)

// hints are suggestions for paths that lead nowhere in an answer: a member with a similar name, or
// the members that there are. They show names of members, never their values.
type hints struct {
	near []string // did you mean .state?
	has  []string // the document has: state, progress
}

// noteMissing notes a step that leads nowhere from an object.
func (e *evaluator) noteMissing(p *path, object value, s *step) {
	if e.hints == nil || object.kind != kindObject || object.hidden || s.pattern != "" {
		return
	}
	var names []string
	for name := range e.each(object) {
		if name != "" {
			names = append(names, name)
		}
		if len(names) == maxMembers {
			break
		}
	}
	before := p.before(s, e.src)
	if meant := nearestMember(s.key, names); meant != "" {
		e.hints.near = append(e.hints.near, words.OneLine("did you mean "+memberPath(before, meant)+"?"))
		return
	}
	if len(names) > maxMembersShown {
		names = append(names[:maxMembersShown], "...")
	}
	for i, name := range names {
		names[i] = words.Shorten(name, maxMemberName)
	}
	whole := or(e.inner, "an element", or(e.env.Element != nil, "the element", "the document"))
	if len(names) > 0 {
		e.hints.has = append(e.hints.has, words.OneLine(cmp.Or(before, e.subject, whole)+" has: "+strings.Join(names, ", ")))
	}
}

// nearestMember is the name that was meant, "" if none is near.
func nearestMember(word string, names []string) string {
	short := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(name) > maxMemberName })
	if i := slices.IndexFunc(short, func(name string) bool { return strings.EqualFold(name, word) }); i >= 0 {
		return short[i]
	}
	if len(word) < 3 || len(word) > maxMemberName {
		return "" // nearly everything is near
	}
	return words.Nearest(word, short)
}

// memberPath spells the path of a member.
func memberPath(before, name string) string {
	p := &parser{src: name}
	if p.startsName(0) && p.word(0) == name {
		return before + "." + name
	}
	return cmp.Or(before, ".") + "[" + preview(name) + "]"
}
