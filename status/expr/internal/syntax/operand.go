package syntax

import "strings"

// operand parses what an operator stands beside.
func (p *parser) operand() Node {
	t := p.tok
	switch t.kind {
	case tokLiteral:
		p.advance()
		return &Literal{t.Span, t.lit}
	case tokVariable:
		p.uses.add(t.variable)
		p.advance()
		return &Variable{t.Span, t.variable, t.text}
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
	return &Literal{}
}

// pathOperand takes a path, which must not iterate here.
func (p *parser) pathOperand(t token) Node {
	p.usePath(t.path)
	if s, ok := t.path.Each(); ok {
		p.fail(s.From, hintEach, "[] stands outside of any, all and count")
	}
	if name := t.path.word(); name != "" {
		p.bareWord(t, name)
	}
	if p.piped {
		p.refuseBuiltin(t)
	}
	p.advance()
	return t.path
}

// word is the name that a bare path of one field consists of.
func (p *Path) word() string {
	if !p.bare || len(p.Steps) != 1 || p.Steps[0].Kind != StepField || p.Steps[0].Pattern != nil {
		return ""
	}
	return p.Steps[0].Key
}

// bareWord refuses words that are a field nowhere else.
func (p *parser) bareWord(t token, name string) {
	if message, hint := jqWord(name, p.piped); message != "" {
		p.fail(t.From, hint, "%s", message)
		return
	}
	if function, _, ok := strings.Cut(name, "-"); ok && bareFunction(function) != 0 {
		p.fail(t.From+len(function), hintArithmetic, "poll does not calculate")
		return
	}
	switch name {
	case "NOT", "Not":
		p.fail(t.From, "write not", "%s is not an operator", name)
	case "True", "False", "None", "nil", "undefined", "TRUE", "FALSE", "NULL", "Null":
		p.fail(t.From, "write true, false or null; ."+name+" is the JSON field", "%s is not a constant", name)
	}
}

// group parses a parenthesis.
func (p *parser) group(open token) Node {
	if !p.nest(open.From) {
		return &Literal{}
	}
	p.advance()
	x := p.pipe()
	p.expect(")", open.From, "the parenthesis ( is not closed")
	p.depth--
	return &Group{p.to(open.From), x}
}

// wordOperand parses a constant, or a call of a function.
func (p *parser) wordOperand(t token) Node {
	switch {
	case t.call:
		return p.call(t)
	case t.text == "true" || t.text == "false":
		p.advance()
		return &Literal{t.Span, Constant{Kind: Bool, Raw: t.text}}
	case t.text == "null":
		p.advance()
		return &Literal{t.Span, Constant{Kind: Null, Raw: t.text}}
	}
	fn := bareFunction(t.text)
	switch {
	case fn == 0:
		p.missing()
	case !p.piped:
		p.fail(t.From, "write (. | "+t.text+") or (.name | "+t.text+"); ."+t.text+" is the JSON field", "%s stands without a value", t.text)
	}
	p.advance()
	return &Call{Span: t.Span, Function: fn}
}

// usePath notes that a path reads the document.
func (p *parser) usePath(path *Path) {
	if !p.inner || path.Root != RootDot {
		p.uses.add(VarJSON)
	}
}
