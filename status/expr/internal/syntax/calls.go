package syntax

import (
	"fmt"
	"strconv"
)

// call parses a function with arguments; the parenthesis is still ahead.
func (p *parser) call(name token) Node {
	fn := callFunction(name.text)
	if fn == 0 {
		message, hint := wrongFunction(name.text)
		p.fail(name.From, hint, "%s", message)
	}
	if !p.nest(name.From) {
		return &Literal{}
	}
	p.advance()
	open := p.tok.From
	p.advance()
	if !p.inner && fn != FuncExists {
		p.uses.add(VarJSON) // it is asked of the document, or of a list in it
	}
	piped, inner := p.piped, p.inner
	p.piped = false
	c := &Call{Function: fn}
	p.arguments(c, name)
	p.expect(")", open, "the parenthesis ( is not closed")
	p.piped, p.inner = piped, inner
	p.depth--
	c.Span = p.to(name.From)
	return c
}

// arguments parses what stands in the parentheses of a call.
func (p *parser) arguments(c *Call, name token) {
	switch c.Function {
	case FuncAny, FuncAll, FuncCount:
		p.eachArguments(c, name)
	case FuncExists:
		p.existsArgument(c)
	case FuncTest:
		p.testArguments(c)
	case FuncIn:
		p.constants(c)
	case FuncStartsWith, FuncEndsWith:
		p.constantArgument(c, name, String)
	case FuncHas:
		p.constantArgument(c, name, String, Number)
	case FuncContains:
		p.constantArgument(c, name)
	}
}

// eachArguments parses "path[]; condition", or the condition alone.
func (p *parser) eachArguments(c *Call, name token) {
	start := p.tok
	if start.kind == tokPath {
		if _, ok := start.path.Each(); ok {
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
		p.fail(start.From, "for its elements write "+start.Of(p.src)+"[]", "%s(...; ...) needs a path with []", name.text)
		return
	}
	if c.Function == FuncCount {
		p.fail(start.From, "such as count(.items[]; "+cond.Where().Of(p.src)+") >= 1", "count needs a path with [] and a condition")
		return
	}
	p.condition(cond)
	c.Cond = cond
}

// iteration parses the rest of "path[]; condition" after the path.
func (p *parser) iteration(c *Call, t token, name token) {
	c.Each = t.path
	if t.path.bare {
		p.fail(t.From, "write ."+t.Of(p.src), "a path with [] begins with a dot")
		return
	}
	p.advance()
	if !p.tok.is(";") {
		s, _ := t.path.Each()
		if p.tok.kind == tokEnd || p.tok.is(")") {
			p.fail(s.From, fmt.Sprintf("for these elements write %s(%s; .)", name.text, t.Of(p.src)), "a condition is missing after %s", t.Of(p.src))
			return
		}
		p.fail(p.tok.From, fmt.Sprintf("write %s(%s; ...)", name.text, t.Of(p.src)), "; and a condition must follow %s", t.Of(p.src))
		return
	}
	p.advance()
	p.inner = true
	c.Cond = p.pipe()
	p.condition(c.Cond)
}

func (p *parser) existsArgument(c *Call) {
	start := p.tok
	if start.kind != tokPath && start.kind != tokVariable {
		p.fail(start.From, "such as exists(.error.code)", "exists needs a path")
		return
	}
	c.Path = p.operand()
	if n, ok := c.Path.(*Path); ok && p.err == nil && n.isList() {
		p.fail(start.From, hintList(n, p.src), "%s is always a list, which always exists", n.Of(p.src))
	}
}

func (p *parser) testArguments(c *Call) {
	start := p.tok
	pattern, ok := p.text("test", `a pattern in quotes, such as "^v2"`)
	if !ok {
		return
	}
	flags := ""
	if p.accept(";") {
		at := p.tok.From
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
	c.Pattern = p.regexp(pattern, start.From)
}

// text parses a string that must stand there.
func (p *parser) text(name, what string) (string, bool) {
	t := p.tok
	if t.kind != tokLiteral || t.lit.Kind != String {
		p.fail(t.From, "", "%s needs %s", name, what)
		return "", false
	}
	p.advance()
	return t.lit.Text, true
}

// constantOperand parses a literal that must stand there.
func (p *parser) constantOperand(name string) Constant {
	start := p.tok
	l, ok := p.operand().(*Literal)
	if p.err != nil {
		return Constant{}
	}
	if !ok {
		hint := ""
		switch name {
		case "contains", "startswith", "endswith":
			hint = "to compare two fields write .a " + name + " .b"
		case "IN":
			hint = "for a list in the document write .state in .names"
		}
		p.fail(start.From, hint, "%s needs a constant", name)
		return Constant{}
	}
	return l.Constant
}

// constantArgument parses the one argument of a function; kinds restricts it.
func (p *parser) constantArgument(c *Call, name token, kinds ...ConstantKind) {
	start := p.tok
	v := p.constantOperand(name.text)
	if p.err != nil {
		return
	}
	fits := len(kinds) == 0
	for _, k := range kinds {
		fits = fits || v.Kind == k
	}
	if v.Kind == Number && c.Function == FuncHas {
		_, err := strconv.Atoi(v.Raw)
		fits = err == nil
	}
	if !fits {
		what := "text"
		if c.Function == FuncHas {
			what = "a key in quotes or a whole number"
		}
		p.fail(start.From, "", "%s needs %s", name.text, what)
	}
	c.Args = []Constant{v}
}

// constants parses the arguments of IN.
func (p *parser) constants(c *Call) {
	for more := true; more && p.err == nil; more = p.accept(",") {
		c.Args = append(c.Args, p.constantOperand("IN"))
	}
}
