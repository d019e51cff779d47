package syntax

import "strings"

// missing reports that there is no operand where one must be.
func (p *parser) missing() {
	t := p.tok
	switch {
	case t.kind == tokEnd:
		p.fail(len(p.src), "", "a value is missing at the end")
	case t.kind == tokOperator && isCompareOp(t.text):
		p.fail(t.From, hintShell, "a value is missing before %s", t.Of(p.src))
	default:
		p.fail(t.From, "", "a value is missing before %s", t.Of(p.src))
	}
	p.advance()
}

// unexpectedToken reports a token that nothing can be done with.
func (p *parser) unexpectedToken() {
	t := p.tok
	if p.err != nil {
		return
	}
	word := t.Of(p.src)
	switch {
	case t.kind == tokPath && t.path.bare && word[0] != '#':
		if message, hint := wrongWord(p.src[t.From:p.wordEnd(t.From)]); message != "" {
			p.fail(t.From, hint, "%s", message)
			return
		}
		p.fail(t.From, `text needs quotes: "`+word+`"; `+hintAnd, "unexpected %s", word)
	case t.kind == tokPath && word[0] == '#':
		p.fail(t.From, "there are no comments", "unexpected #")
	case t.kind == tokPath && p.src[t.From-1] == ')':
		p.fail(t.From, "write (... | "+word+")", "a path cannot follow a parenthesis")
	case t.kind == tokWord:
		p.unexpectedWord(t)
	case t.is(")"):
		p.fail(t.From, "", "the parenthesis ) closes nothing")
	case t.is(","):
		p.fail(t.From, hintJoin, "a comma means nothing here")
	case t.is(";"):
		p.fail(t.From, hintJoin, "a semicolon means nothing here")
	case t.is("("):
		p.fail(t.From, methodHint(p.src[:t.From]), "a parenthesis cannot follow here")
	case t.is("!"):
		p.fail(t.From, "write != to compare, and ! before the whole condition", "unexpected !")
	case t.kind == tokLiteral && (word[0] == '[' || word[0] == '{'):
		p.fail(t.From, "an index follows without a space: .items[0]", "unexpected %c", word[0])
	default:
		p.fail(t.From, hintAnd, "unexpected %s", word)
	}
}

func (p *parser) unexpectedWord(t token) {
	if message, hint := wrongWord(t.text); message != "" && !t.call && t.text != "not" {
		p.fail(t.From, hint, "%s", message)
		return
	}
	p.fail(t.From, "write (... | "+t.text+"); "+hintAnd, "unexpected %s", t.text)
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
