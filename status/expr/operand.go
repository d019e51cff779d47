package expr

import "strings"

// operand parses what an operator stands beside.
func (p *parser) operand() node {
	t := p.tok
	switch t.kind {
	case tokLiteral:
		p.advance()
		return &literal{t.span, t.lit}
	case tokVariable:
		p.use(t.text)
		p.advance()
		return &variable{t.span, t.text, t.lit.str}
	case tokPath:
		return p.pathOperand(t)
	case tokWord:
		return p.wordOperand(t)
	case tokOperator:
		if t.text == "(" {
			return p.group(t)
		}
	}
	p.missing()
	return &literal{}
}

// pathOperand takes a path, which must not iterate here.
func (p *parser) pathOperand(t token) node {
	p.usePath(t.path)
	if s, ok := t.path.each(); ok {
		p.fail(s.from, hintEach, "[] stands outside of any, all and count")
	}
	if name := t.path.word(); name != "" {
		p.bareWord(t, name)
	}
	if p.piped {
		p.refuseBuiltin(t)
	}
	p.advance()
	return &pathNode{t.span, t.path}
}

// word is the name that a bare path of one field consists of.
func (p *path) word() string {
	if !p.bare || len(p.steps) != 1 || p.steps[0].kind != stepField || p.steps[0].glob != "" {
		return ""
	}
	return p.steps[0].key
}

// bareWord refuses words that are a field nowhere else.
func (p *parser) bareWord(t token, name string) {
	if message, hint := jqWord(name, p.piped); message != "" {
		p.fail(t.from, hint, "%s", message)
		return
	}
	if function, _, ok := strings.Cut(name, "-"); ok && bareFunction(function) != 0 {
		p.fail(t.from+len(function), hintArithmetic, "poll does not calculate")
		return
	}
	switch name {
	case "NOT", "Not":
		p.fail(t.from, "write not", "%s is not an operator", name)
	case "True", "False", "None", "nil", "undefined", "TRUE", "FALSE", "NULL", "Null":
		p.fail(t.from, "write true, false or null; ."+name+" is the JSON field", "%s is not a constant", name)
	}
}

// group parses a parenthesis.
func (p *parser) group(open token) node {
	if !p.nest(open.from) {
		return &literal{}
	}
	p.advance()
	x := p.pipe()
	p.expect(")", open.from, "the parenthesis ( is not closed")
	p.depth--
	return &group{p.to(open.from), x}
}

// wordOperand parses a constant, or a call of a function.
func (p *parser) wordOperand(t token) node {
	switch {
	case t.call:
		return p.call(t)
	case t.text == "true" || t.text == "false":
		p.advance()
		return &literal{t.span, boolean(t.text == "true")}
	case t.text == "null":
		p.advance()
		return &literal{t.span, value{kind: KindNull, raw: "null"}}
	}
	fn := bareFunction(t.text)
	switch {
	case fn == 0:
		p.missing()
	case !p.piped:
		p.fail(t.from, "write (. | "+t.text+") or (.name | "+t.text+"); ."+t.text+" is the JSON field", "%s stands without a value", t.text)
	}
	p.advance()
	return &call{span: t.span, fn: fn}
}

// usePath notes that a path reads the document.
func (p *parser) usePath(path *path) {
	p.uses.JSON = p.uses.JSON || !p.inner || path.root != rootDot
}

// use notes that a variable is read.
func (p *parser) use(name string) {
	switch name {
	case "exit":
		p.uses.Exit = true
	case "status":
		p.uses.Status = true
	case "header":
		p.uses.Header = true
	case "body":
		p.uses.Body = true
	case "stdout":
		p.uses.Stdout = true
	case "stderr":
		p.uses.Stderr = true
	case "attempt":
		p.uses.Attempt = true
	case "elapsed":
		p.uses.Elapsed = true
	case "isjson":
		p.uses.IsJSON = true
	}
}
