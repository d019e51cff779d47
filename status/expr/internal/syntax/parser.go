package syntax

import (
	"regexp"
	"strings"
)

const (
	// maxSource is the longest expression, in bytes.
	maxSource = 16 << 10
	// maxNesting is how deep parentheses, calls, negations and queries may nest.
	maxNesting = 200
)

// A parser is a recursive descent over the grammar in the package comment. After
// an error it sees only the end, so that it unwinds by itself.
type parser struct {
	lexer
	tok   token
	depth int
	piped bool // on the right side of a pipe, where bare functions may stand
	inner bool // where "." is not the document: there, or in any(...)
	uses  reads

	secret bool // see [Program]
}

// A Program is a parsed expression.
type Program struct {
	Root   Node
	Uses   reads
	Slots  int  // for the values of the hoisted nodes in it
	Secret bool // it names a variable of the environment
}

// Parse parses a whole expression and marks the nodes to hoist; if condition is true, it
// refuses what is true of every answer. An error says what to write instead.
func Parse(src string, condition bool, environ Environ) (Program, *Error) {
	p := &parser{lexer: lexer{src: src, environ: environ}}
	root := p.parse(condition)
	if p.err != nil {
		if !condition {
			p.err.Hint = valueHint(p.err.Hint)
		}
		return Program{}, p.err
	}
	var h hoister
	h.hoist(&root)
	return Program{root, p.uses, h.slots, p.secret}, nil
}

// parse parses a whole expression.
func (p *parser) parse(condition bool) Node {
	src := p.src
	switch {
	case len(src) > maxSource:
		p.fail(0, "", "the expression is longer than %d KiB", maxSource>>10)
	case strings.TrimSpace(src) == "":
		p.fail(0, `write a condition such as .state == "done"`, "the expression is empty")
	}
	p.advance()
	n := p.pipe()
	if p.tok.kind != tokEnd {
		p.unexpectedToken()
	}
	if condition {
		p.condition(n)
	}
	if p.err != nil {
		return nil
	}
	return n
}

func (p *parser) advance() { p.tok = p.next() }

// fail notes the first error, after which there is only the end.
func (p *parser) fail(pos int, hint, format string, args ...any) {
	p.lexer.fail(pos, hint, format, args...)
	p.advance()
}

// accept skips the operator if it is next.
func (p *parser) accept(text string) bool {
	if !p.tok.is(text) {
		return false
	}
	p.advance()
	return true
}

// expect skips the operator, or fails with the message at the offset.
func (p *parser) expect(text string, pos int, message string) {
	switch {
	case p.accept(text):
	case p.tok.kind == tokEnd:
		p.fail(pos, "", "%s", message)
	default:
		p.unexpectedToken()
	}
}

// nest enters one more level.
func (p *parser) nest(pos int) {
	if p.depth++; p.depth > maxNesting {
		p.fail(pos, "", "nested deeper than %d levels", maxNesting)
	}
}

// to makes the span from an offset to the end of the last token.
func (p *parser) to(from int) Span { return Span{from, max(from, p.lastEnd)} }

func (p *parser) pipe() Node {
	from := p.tok.From
	piped, inner := p.piped, p.inner
	defer func() { p.piped, p.inner = piped, inner }()
	start := p.tok
	xs := []Node{p.alternative()}
	if start.kind == tokPath && start.To == p.lastEnd && p.tok.is("|") {
		p.refuseBuiltin(start)
	}
	for p.accept("|") {
		p.piped, p.inner = true, true
		xs = append(xs, p.alternative())
	}
	if len(xs) == 1 {
		return xs[0]
	}
	return &Pipe{p.to(from), xs}
}

func (p *parser) alternative() Node {
	from := p.tok.From
	left := p.or()
	at := p.tok.From
	if !p.accept("//") {
		return left
	}
	p.nest(at)
	right := p.alternative()
	p.depth--
	if isComparison(edge(left, true)) || isComparison(edge(right, false)) {
		p.fail(at, p.alternativeHint(left, right), "// stands next to a comparison")
	}
	return &Alternative{p.to(from), left, right}
}

// alternativeHint spells both meanings of an expression like .a // 1 == 1.
func (p *parser) alternativeHint(left, right Node) string {
	c, ok := right.(*Comparison)
	if !ok || isComparison(edge(left, true)) || p.err != nil {
		return "put the comparison, or the //, in parentheses"
	}
	either := left.Where().Of(p.src) + " // "
	return "write (" + either + c.Left.Where().Of(p.src) + ") " + p.src[c.OpSpan.From:c.To] + ", or " + either + "(" + c.Of(p.src) + ") as jq reads it"
}

func isComparison(n Node) bool {
	_, ok := n.(*Comparison)
	return ok
}

// edge is the first or last operand in n; it does not look into parentheses.
func edge(n Node, last bool) Node {
	switch x := n.(type) {
	case *Logic:
		if last {
			return edge(x.Xs[len(x.Xs)-1], last)
		}
		return edge(x.Xs[0], last)
	case *Negation:
		return edge(x.X, last)
	case *Alternative:
		if last {
			return edge(x.Right, last)
		}
		return edge(x.Left, last)
	}
	return n
}

func (p *parser) or() Node { return p.chain("||", p.and) }

func (p *parser) and() Node { return p.chain("&&", p.not) }

// chain parses operands that are joined by one operator of logic.
func (p *parser) chain(op string, operand func() Node) Node {
	from := p.tok.From
	x := operand()
	if !p.tok.is(op) {
		return x
	}
	xs := []Node{x}
	for p.accept(op) {
		xs = append(xs, operand())
	}
	for _, x := range xs {
		p.condition(x)
	}
	return &Logic{p.to(from), op == "||", xs}
}

func (p *parser) not() Node {
	from := p.tok.From
	switch {
	case p.tok.is("not") && !p.isPipedNot():
		p.advance()
		return p.negate(from, p.not)
	case p.tok.is("!"):
		p.advance()
		operand := p.operand
		if p.tok.is("!") {
			operand = p.not
		}
		n := p.negate(from, operand)
		if p.tok.compareOp() != 0 {
			p.fail(from, "write !(... "+p.tok.text+" ...), or (!...) "+p.tok.text+" ...", "! stands before a comparison")
		}
		return n
	}
	return p.comparison()
}

// isPipedNot tells the function not, as in ".done | not", from the operator.
func (p *parser) isPipedNot() bool {
	if !p.piped {
		return false
	}
	ahead := p.lexer
	t := ahead.next()
	return t.kind == tokEnd || t.kind == tokOperator && t.text != "(" && t.text != "!"
}

func (p *parser) negate(from int, operand func() Node) Node {
	p.nest(from)
	x := operand()
	p.depth--
	p.condition(x)
	return &Negation{p.to(from), x}
}

func (p *parser) comparison() Node {
	from := p.tok.From
	left := p.operand()
	op := p.tok.compareOp()
	if op == 0 {
		return left
	}
	c := &Comparison{Op: op, OpSpan: p.tok.Span, Left: left}
	p.advance()
	p.right(c)
	c.Span = p.to(from)
	if p.tok.compareOp() != 0 {
		p.fail(p.tok.From, "join two comparisons with and: 1 < .a and .a < 5", "comparisons cannot be chained")
	}
	return c
}

// right parses the right side of a comparison.
func (p *parser) right(c *Comparison) {
	start := p.tok
	if start.kind == tokPath && start.path.bare {
		p.unquoted(start)
		return
	}
	c.Right = p.operand()
	constant, isConstant := LiteralOf(c.Right)
	switch {
	case p.err != nil:
	case c.Op == OpContains || c.Op == OpStartsWith || c.Op == OpEndsWith:
		if isConstant && constant.Kind != String && c.Op != OpContains {
			p.fail(start.From, "", "%s needs text", c.Op)
		}
		if isConstant {
			p.refuseEmpty(constant.Constant, start.From)
		}
	case c.Op == OpMatch || c.Op == OpNotMatch:
		if !isConstant || constant.Kind != String {
			p.fail(start.From, `such as =~ "^v2"`, "%s needs a pattern in quotes", c.Op)
		} else {
			c.Pattern = p.regexp(constant.Text, start)
		}
	case c.Op == OpIn && isConstant && constant.Kind != Array:
		p.fail(start.From, `write in ["a", "b"], or contains for a part of a text`, "in needs a list")
	}
}

// refuseEmpty refuses a text that every other one contains.
func (p *parser) refuseEmpty(c Constant, at int) {
	if c.Kind == String && c.Text == "" {
		p.fail(at, hintUnset, "every text contains the empty text")
	}
}

// hintUnset is a likely reason for a text that is empty.
const hintUnset = "is a variable of the shell not set? poll reads it itself where $ENV.NAME is written"

// unquoted refuses a bare word on the right of a comparison.
func (p *parser) unquoted(t token) {
	word := t.Of(p.src)
	p.refuse(t.From, "", rightHabits, is(word))
	if strings.ContainsAny(word, `#@\*?|[`) {
		p.fail(t.From, "begin it with a dot: ."+strings.TrimLeft(word, "."), "a path on the right begins with a dot")
	}
	hint := `write "` + word + `" for text, .` + word + " for the JSON field"
	if name, ok := strings.CutPrefix(word, "env."); ok {
		hint += ", $ENV." + name + " for a variable of the environment"
	}
	p.fail(t.From, hint, "%s is not quoted", word)
}

// regexp compiles the pattern that a token holds.
func (p *parser) regexp(pattern string, t token) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err == nil {
		branches := "(" + strings.ReplaceAll(pattern, `\|`, "x") + ")"
		if strings.Contains(branches, "(|") || strings.Contains(branches, "||") || strings.Contains(branches, "|)") || pattern == "" {
			p.fail(t.From, hintUnset, "every text matches a pattern with an empty branch")
		}
		return re
	}
	hint, message := "", strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if t.lit.Secret {
		message = "the value of " + t.Of(p.src) // the error repeats parts of it
	}
	if strings.Contains(pattern, "(?=") || strings.Contains(pattern, "(?!") || strings.Contains(pattern, "(?<") {
		hint = "patterns are Go's (RE2), which has no look-around; join two patterns with and"
	}
	p.fail(t.From, hint, "the pattern is malformed: %s", message)
	return nil
}

// condition checks that n can be false. A list, a count or a constant cannot, and would
// end a wait by accident; but a plain true is deliberate.
func (p *parser) condition(n Node) {
	if p.err != nil {
		return
	}
	switch x := Ungroup(n).(type) {
	case *Path:
		if x.isList() {
			p.fail(x.From, hintList(x, p.src), "%s is always a list, and a list is always true", x.Of(p.src))
		}
	case *Literal:
		p.conditionLiteral(x)
	case *Variable:
		if usual := usualComparisons[x.Name]; usual != "" {
			p.fail(x.From, "compare it: "+usual, "$%s is a number, and a number is always true", x.Name)
		}
	case *Call:
		if x.Function == FuncCount {
			p.fail(x.From, "compare it: "+x.Of(p.src)+" >= 1", "count is a number, and a number is always true")
		}
	case *Pipe:
		p.condition(x.Xs[len(x.Xs)-1])
	case *Alternative:
		p.condition(x.Left)
		p.condition(x.Right)
	}
}

// usualComparisons are examples for the variables that are numbers.
var usualComparisons = [VarWhole]string{
	VarExit: "$exit == 0", VarStatus: "$status == 200", VarAttempt: "$attempt >= 3", VarElapsed: "$elapsed > 5m",
}

// conditionLiteral refuses a constant that is always true.
func (p *parser) conditionLiteral(x *Literal) {
	text := x.Of(p.src)
	switch x.Kind {
	case Array:
		p.fail(x.From, "", "a list is always true")
	case Object:
		p.fail(x.From, "", "an object is always true")
	case String:
		if !x.Secret && isQuestion(x.Text) {
			p.fail(x.From, "the quotes are part of the expression; without them it is "+x.Text, "%s is text, and text is always true", text)
			return
		}
		p.fail(x.From, "compare it with a field: .state == "+text, "%s is text, and text is always true", text)
	case Number:
		p.fail(x.From, "compare it: .count == "+text+", or $status == 200 for the HTTP status", "%s is a number, and a number is always true", text)
	}
}

// isQuestion reports whether a text is a condition rather than a word.
func isQuestion(text string) bool {
	const most = 2 << 10 // bytes
	if len(text) > most {
		return false
	}
	p := &parser{lexer: lexer{src: text}}
	path, isPath := p.parse(true).(*Path)
	return p.err == nil && p.uses != 0 && !(isPath && path.bare)
}

// hintList says how to test whether a list has members.
func hintList(n *Path, src string) string {
	steps := n.Steps
	text := n.Of(src)
	if last := steps[len(steps)-1]; last.Kind == LookupAll {
		return "drop the last # for \"there is one\", or count them: " + text + "|# > 0"
	}
	return "count the members: " + text + "|# > 0"
}
