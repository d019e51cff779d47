package expr

import "strings"

// missing reports that there is no operand where one must be.
func (p *parser) missing() {
	t := p.tok
	switch {
	case t.kind == tokEnd:
		p.fail(len(p.src), "", "a value is missing at the end")
	case t.kind == tokOperator && isCompareOp(t.text):
		p.fail(t.from, hintShell, "a value is missing before %s", t.of(p.src))
	default:
		p.fail(t.from, "", "a value is missing before %s", t.of(p.src))
	}
	p.advance()
}

// unexpectedToken reports a token that nothing can be done with.
func (p *parser) unexpectedToken() {
	t := p.tok
	if p.err != nil {
		return
	}
	word := t.of(p.src)
	switch {
	case t.kind == tokPath && t.path.bare && word[0] != '#':
		if message, hint := wrongWord(p.src[t.from:p.wordEnd(t.from)]); message != "" {
			p.fail(t.from, hint, "%s", message)
			return
		}
		p.fail(t.from, `text needs quotes: "`+word+`"; `+hintAnd, "unexpected %s", word)
	case t.kind == tokPath && word[0] == '#':
		p.fail(t.from, "there are no comments", "unexpected #")
	case t.kind == tokPath && p.src[t.from-1] == ')':
		p.fail(t.from, "write (... | "+word+")", "a path cannot follow a parenthesis")
	case t.kind == tokWord:
		p.unexpectedWord(t)
	case t.is(")"):
		p.fail(t.from, "", "the parenthesis ) closes nothing")
	case t.is(","):
		p.fail(t.from, hintJoin, "a comma means nothing here")
	case t.is(";"):
		p.fail(t.from, hintJoin, "a semicolon means nothing here")
	case t.is("("):
		p.fail(t.from, methodHint(p.src[:t.from]), "a parenthesis cannot follow here")
	case t.is("!"):
		p.fail(t.from, "write != to compare, and ! before the whole condition", "unexpected !")
	case t.kind == tokLiteral && (word[0] == '[' || word[0] == '{'):
		p.fail(t.from, "an index follows without a space: .items[0]", "unexpected %c", word[0])
	default:
		p.fail(t.from, hintAnd, "unexpected %s", word)
	}
}

func (p *parser) unexpectedWord(t token) {
	if message, hint := wrongWord(t.text); message != "" && !t.call && t.text != "not" {
		p.fail(t.from, hint, "%s", message)
		return
	}
	p.fail(t.from, "write (... | "+t.text+"); "+hintAnd, "unexpected %s", t.text)
}

// methodHint is for a call in the manner of .name.endsWith("x").
func methodHint(before string) string {
	name := before[strings.LastIndexAny(before, ".| ")+1:]
	switch strings.ToLower(name) {
	case "endswith", "startswith", "contains":
		return `write .name ` + strings.ToLower(name) + ` "x"`
	case "test", "match", "matches":
		return `write .name =~ "pattern"`
	case "length", "size":
		return "write (.name | length)"
	}
	return ""
}
