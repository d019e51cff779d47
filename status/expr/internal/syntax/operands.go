package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// operand parses an operand.
func (p *parser) operand() Node {
	t := p.tok
	switch t.kind {
	case tokLiteral:
		p.secret = p.secret || t.lit.Secret
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
	if name := t.path.FirstWord(); name != "" && len(t.path.Steps) == 1 {
		p.bareWord(t, name)
	}
	if p.piped {
		p.refuseBuiltin(t)
	}
	p.advance()
	return t.path
}

// bareWord refuses words that are not fields in other languages.
func (p *parser) bareWord(t token, name string) {
	if name == "keys" || p.piped && (name == "map" || name == "select") {
		p.refuse(t.From, "", jqFunctions, is(name))
	}
	p.refuse(t.From, "", fieldHabits, is(name))
	if p.piped && functions[function(name)].called {
		p.fail(t.From, "write "+name+"(...)", "%s needs an argument", name)
	}
	if function, _, ok := strings.Cut(name, "-"); ok && isBare(function) {
		p.fail(t.From+len(function), hintArithmetic, "poll does not calculate")
	}
}

// group parses a parenthesis.
func (p *parser) group(open token) Node {
	p.nest(open.From)
	p.advance()
	x := p.pipe()
	p.expect(")", open.From, "the parenthesis ( is not closed")
	p.depth--
	return &Group{p.to(open.From), x}
}

// wordOperand parses a constant, or a call of a function.
func (p *parser) wordOperand(t token) Node {
	if t.call {
		return p.call(t)
	}
	fn := function(t.text)
	switch {
	case t.text == "null":
		p.advance()
		return &Literal{t.Span, Constant{Kind: Null, Raw: t.text}}
	case t.text == "true" || t.text == "false":
		p.advance()
		return &Literal{t.Span, Constant{Kind: Bool, Raw: t.text}}
	case !functions[fn].bare:
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
	if path.Root != RootDot {
		p.uses.add(VarWhole)
	}
}

// call parses a function with arguments, from its name on.
func (p *parser) call(name token) Node {
	c := &Call{Function: function(name.text)}
	if !functions[c.Function].called {
		p.refuseFunction(name)
	}
	p.nest(name.From)
	p.advance()
	open := p.tok.From
	p.advance()
	if !p.inner && c.Function != FuncExists {
		p.uses.add(VarJSON) // it reads the document, or a list in it
	}
	piped, inner := p.piped, p.inner
	p.piped = false
	p.arguments(c, name.text)
	p.expect(")", open, "the parenthesis ( is not closed")
	p.piped, p.inner = piped, inner
	p.depth--
	c.Span = p.to(name.From)
	return c
}

// arguments parses what stands in the parentheses of a call.
func (p *parser) arguments(c *Call, name string) {
	start := p.tok
	switch c.Function {
	case FuncAny, FuncAll, FuncCount:
		p.eachArguments(c, name)
	case FuncExists:
		p.existsArgument(c)
	case FuncTest:
		p.testArguments(c)
	case FuncIn:
		for more := true; more; more = p.accept(",") {
			c.Args = append(c.Args, p.constantArgument("IN", "a constant"))
		}
	case FuncStartsWith, FuncEndsWith:
		c.Args = []Constant{p.constantArgument(name, "text", String)}
		p.refuseEmpty(c.Args[0], start.From)
	case FuncContains:
		c.Args = []Constant{p.constantArgument(name, "a constant")}
		p.refuseEmpty(c.Args[0], start.From)
	case FuncHas:
		const what = "a key in quotes or a whole number"
		key := p.constantArgument(name, what, String, Number)
		if _, err := strconv.Atoi(key.Raw); key.Kind == Number && err != nil {
			p.fail(start.From, "", "has needs %s", what)
		}
		c.Args = []Constant{key}
	}
}

// eachArguments parses "path[]; condition", or the condition alone.
func (p *parser) eachArguments(c *Call, name string) {
	start := p.tok
	if start.kind == tokPath {
		if s, ok := start.path.Each(); ok {
			p.usePath(start.path)
			c.Each = start.path
			p.afterEach(start, s, name)
		}
	}
	p.inner = true
	c.Cond = p.pipe()
	switch {
	case c.Each != nil:
	case p.tok.is(";"):
		p.fail(start.From, "for its elements write "+start.Of(p.src)+"[]", "%s(...; ...) needs a path with []", name)
	case c.Function == FuncCount:
		p.fail(start.From, "such as count(.items[]; "+c.Cond.Where().Of(p.src)+") >= 1", "count needs a path with [] and a condition")
	}
	p.condition(c.Cond)
}

// afterEach skips a path with the step [], and the semicolon after it.
func (p *parser) afterEach(path token, each Step, name string) {
	text := path.Of(p.src)
	if path.path.bare {
		p.fail(path.From, "write ."+text, "a path with [] begins with a dot")
	}
	p.advance()
	switch {
	case p.accept(";"):
	case p.tok.kind == tokEnd || p.tok.is(")"):
		p.fail(each.From, "for these elements write "+name+"("+text+"; .)", "a condition is missing after %s", text)
	default:
		p.fail(p.tok.From, "write "+name+"("+text+"; ...)", "; and a condition must follow %s", text)
	}
}

func (p *parser) existsArgument(c *Call) {
	start := p.tok
	if start.kind != tokPath && start.kind != tokVariable {
		p.fail(start.From, "such as exists(.error.code)", "exists needs a path")
	}
	c.Path = p.operand()
	if n, ok := c.Path.(*Path); ok && n.isList() {
		p.fail(start.From, hintList(n, p.src), "%s is always a list, which always exists", n.Of(p.src))
	}
}

func (p *parser) testArguments(c *Call) {
	start := p.tok
	c.Args = []Constant{p.constantArgument("test", `a pattern in quotes, such as "^v2"`, String)}
	pattern := c.Args[0].Text
	if p.accept(";") {
		at := p.tok.From
		switch p.constantArgument("test", `flags in quotes, such as "i"`, String).Text {
		case "":
		case "i":
			pattern = "(?i)" + pattern
		default:
			p.fail(at, `"i" ignores case; (?s) and (?m) can stand in the pattern`, "the only flag is \"i\"")
		}
	}
	c.Pattern = p.regexp(pattern, start)
}

// constantArgument parses a constant, of one of the kinds if any are given; errors call
// it what.
func (p *parser) constantArgument(name, what string, kinds ...ConstantKind) Constant {
	start := p.tok
	var l *Literal
	if !start.is(")") {
		l, _ = p.operand().(*Literal)
	}
	switch ok := l != nil; {
	case ok && (len(kinds) == 0 || slices.Contains(kinds, l.Kind)):
		return l.Constant
	case ok || name == "test" || name == "has":
		p.fail(start.From, "", "%s needs %s", name, what)
	case name == "IN":
		p.fail(start.From, "for a list in the document write .state in .names", "IN needs a constant")
	default:
		p.fail(start.From, "to compare two fields write .a "+name+" .b", "%s needs a constant", name)
	}
	return Constant{}
}
