package expr

import "fmt"

// call parses a function with arguments; the parenthesis is still ahead.
func (p *parser) call(name token) node {
	fn := callFunction(name.text)
	if fn == 0 {
		message, hint := wrongFunction(name.text)
		p.fail(name.from, hint, "%s", message)
	}
	if !p.nest(name.from) {
		return &literal{}
	}
	p.advance()
	open := p.tok.from
	p.advance()
	if !p.inner && fn != fnExists {
		p.uses.JSON = true // it is asked of the document, or of a list in it
	}
	piped, inner := p.piped, p.inner
	p.piped = false
	c := &call{fn: fn}
	p.arguments(c, name)
	p.expect(")", open, "the parenthesis ( is not closed")
	p.piped, p.inner = piped, inner
	p.depth--
	c.span = p.to(name.from)
	return c
}

// arguments parses what stands in the parentheses of a call.
func (p *parser) arguments(c *call, name token) {
	switch c.fn {
	case fnAny, fnAll, fnCount:
		p.eachArguments(c, name)
	case fnExists:
		p.existsArgument(c)
	case fnTest:
		p.testArguments(c)
	case fnIn:
		p.constants(c)
	case fnStartsWith, fnEndsWith:
		p.constantArgument(c, name, KindString)
	case fnHas:
		p.constantArgument(c, name, KindString, KindNumber)
	case fnContains:
		p.constantArgument(c, name)
	}
}

// eachArguments parses "path[]; condition", or the condition alone.
func (p *parser) eachArguments(c *call, name token) {
	start := p.tok
	if start.kind == tokPath {
		if _, ok := start.path.each(); ok {
			p.usePath(start.path)
			p.iteration(c, start, name)
			return
		}
	}
	p.inner = true
	cond := p.pipe()
	if p.err != nil {
		return
	}
	if p.tok.is(";") {
		p.fail(start.from, "for its elements write "+start.of(p.src)+"[]", "%s(...; ...) needs a path with []", name.text)
		return
	}
	if c.fn == fnCount {
		p.fail(start.from, "such as count(.items[]; "+cond.where().of(p.src)+") >= 1", "count needs a path with [] and a condition")
		return
	}
	p.condition(cond)
	c.cond = cond
}

// iteration parses the rest of "path[]; condition" after the path.
func (p *parser) iteration(c *call, t token, name token) {
	c.each = t.path
	if t.path.bare {
		p.fail(t.from, "write ."+t.of(p.src), "a path with [] begins with a dot")
		return
	}
	p.advance()
	if !p.tok.is(";") {
		s, _ := t.path.each()
		if p.tok.kind == tokEnd || p.tok.is(")") {
			p.fail(s.from, fmt.Sprintf("for these elements write %s(%s; .)", name.text, t.of(p.src)), "a condition is missing after %s", t.of(p.src))
			return
		}
		p.fail(p.tok.from, fmt.Sprintf("write %s(%s; ...)", name.text, t.of(p.src)), "; and a condition must follow %s", t.of(p.src))
		return
	}
	p.advance()
	p.inner = true
	c.cond = p.pipe()
	p.condition(c.cond)
}

func (p *parser) existsArgument(c *call) {
	start := p.tok
	if start.kind != tokPath && start.kind != tokVariable {
		p.fail(start.from, "such as exists(.error.code)", "exists needs a path")
		return
	}
	c.path = p.operand()
	if n, ok := c.path.(*pathNode); ok && p.err == nil && n.isList() {
		p.fail(start.from, hintList(n, p.src), "%s is always a list, which always exists", n.of(p.src))
	}
}

func (p *parser) testArguments(c *call) {
	start := p.tok
	pattern, ok := p.text("test", `a pattern in quotes, such as "^v2"`)
	if !ok {
		return
	}
	flags := ""
	if p.accept(";") {
		at := p.tok.from
		if flags, ok = p.text("test", `flags in quotes, such as "i"`); !ok {
			return
		}
		if flags != "" && flags != "i" {
			p.fail(at, `"i" ignores case; (?s) and (?m) can stand in the pattern`, "the only flag is \"i\"")
		}
	}
	if flags == "i" {
		pattern = "(?i)" + pattern
	}
	c.pattern = p.regexp(pattern, start.from)
}

// text parses a string that must stand there.
func (p *parser) text(name, what string) (string, bool) {
	t := p.tok
	if t.kind != tokLiteral || t.lit.kind != KindString {
		p.fail(t.from, "", "%s needs %s", name, what)
		return "", false
	}
	p.advance()
	return t.lit.str, true
}

// constantOperand parses a literal that must stand there.
func (p *parser) constantOperand(name string) value {
	start := p.tok
	l, ok := p.operand().(*literal)
	if p.err != nil {
		return value{}
	}
	if !ok {
		hint := ""
		switch name {
		case "contains", "startswith", "endswith":
			hint = "to compare two fields write .a " + name + " .b"
		case "IN":
			hint = "for a list in the document write .state in .names"
		}
		p.fail(start.from, hint, "%s needs a constant", name)
		return value{}
	}
	return l.value
}

// constantArgument parses the one argument of a function; kinds restricts it.
func (p *parser) constantArgument(c *call, name token, kinds ...Kind) {
	start := p.tok
	v := p.constantOperand(name.text)
	if p.err != nil {
		return
	}
	fits := len(kinds) == 0
	for _, k := range kinds {
		fits = fits || v.kind == k
	}
	if v.kind == KindNumber && c.fn == fnHas {
		fits = isShortInt(v.raw)
	}
	if !fits {
		what := "text"
		if c.fn == fnHas {
			what = "a key in quotes or a whole number"
		}
		p.fail(start.from, "", "%s needs %s", name.text, what)
	}
	c.args = []value{v}
}

// constants parses the arguments of IN.
func (p *parser) constants(c *call) {
	for more := true; more && p.err == nil; more = p.accept(",") {
		c.args = append(c.args, p.constantOperand("IN"))
	}
}
