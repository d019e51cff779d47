package syntax

import (
	"strings"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A jqForm is a part of a jq program, parsed as far as needed to translate it.
type jqForm struct {
	kind jqKind
	text string    // in the source; for a jqPath, the path that it means
	name string    // jqCall: the function; jqCompare: the operator
	args []*jqForm // what it joins, encloses or is called with
}

type jqKind uint8

const (
	jqOther   jqKind = iota
	jqPipe           // x | y, also x.y where x is a call or in brackets
	jqOr             // x or y
	jqAnd            // x and y
	jqCompare        // x == y
	jqGroup          // (x)
	jqList           // [x]
	jqCall           // f, f(x) or f(x; y)
	jqPath           // .x, also as first, last or nth(1)
	jqConstant
)

// jqJoints are the signs that join parts, from the loosest to the tightest.
var jqJoints = [...]struct {
	sign string
	kind jqKind
}{{"|", jqPipe}, {",", jqOther}, {"//", jqOther}, {"||", jqOr}, {"&&", jqAnd}}

// A jqParser parses a jq program, with the tokens of the language.
type jqParser struct {
	lexer
	tok token
}

// parseJQ returns nil for a program that cannot be translated.
func parseJQ(src string) *jqForm {
	p := &jqParser{lexer: lexer{src: src, lists: true}}
	p.advance()
	f := p.joined(0)
	if p.err != nil || p.tok.kind != tokEnd {
		return nil
	}
	return f
}

func (p *jqParser) advance() { p.tok = p.next() }

// form makes a form that begins at an offset and ends with the last token.
func (p *jqParser) form(kind jqKind, from int, args ...*jqForm) *jqForm {
	return &jqForm{kind: kind, text: p.src[from:max(from, p.lastEnd)], args: args}
}

// joined reads parts that are joined at a level or more tightly.
func (p *jqParser) joined(level int) *jqForm {
	if level == len(jqJoints) {
		return p.comparison()
	}
	from := p.tok.From
	args := []*jqForm{p.joined(level + 1)}
	for p.tok.is(jqJoints[level].sign) {
		p.advance()
		args = append(args, p.joined(level+1))
	}
	if len(args) == 1 {
		return args[0]
	}
	f := p.form(jqJoints[level].kind, from, args...)
	if f.kind == jqPipe {
		f.args = nil
		for _, arg := range args {
			f.args = append(f.args, arg.stages()...)
		}
	}
	return f
}

// comparison reads x.y == z as x | .y == z where x is a call or in brackets.
func (p *jqParser) comparison() *jqForm {
	from := p.tok.From
	left := p.operand()
	op := p.tok
	if op.compareOp() == 0 {
		return left
	}
	p.advance()
	right := p.operand()
	stages := left.stages()
	n := len(stages) - 1
	f := p.form(jqCompare, from, stages[n], right)
	f.name = op.text
	if !strings.HasPrefix(f.text, stages[n].text) {
		f.text = stages[n].text + " " + op.text + " " + right.text
	}
	if n == 0 {
		return f
	}
	return p.form(jqPipe, from, append(stages[:n:n], f)...)
}

// operand reads an operand, and the paths after it.
func (p *jqParser) operand() *jqForm {
	from := p.tok.From
	f := p.first()
	for f.kind != jqConstant {
		path := p.tok.Of(p.src)
		if p.tok.kind == tokLiteral && path[0] == '[' {
			path = "." + path
		} else if p.tok.kind != tokPath || path[0] != '.' {
			break
		}
		p.advance()
		f = p.form(jqPipe, from, append(f.stages(), &jqForm{kind: jqPath, text: path})...)
	}
	return f
}

// first reads the first part of an operand.
func (p *jqParser) first() *jqForm {
	t := p.tok
	p.advance()
	f := &jqForm{text: t.Of(p.src)}
	switch {
	case t.kind == tokLiteral:
		f.kind = jqConstant
	case t.kind == tokPath:
		f.kind, f.text = jqPath, indexPath(f.text)
		if f.text[0] != '.' {
			f.kind, f.name = jqCall, f.text
		}
	case t.kind == tokWord && t.call:
		return p.call(t)
	case t.kind == tokWord:
		f.kind, f.name = jqCall, t.text
		if t.text == "null" || t.text == "true" || t.text == "false" {
			f.kind = jqConstant
		}
	case t.is("("):
		return p.closed(jqGroup, ")", t.From)
	case t.is("["):
		return p.closed(jqList, "]", t.From)
	case t.kind == tokVariable:
	default:
		p.fail(t.From, "", "unexpected %s", f.text)
	}
	return f
}

// closed reads the inside of brackets.
func (p *jqParser) closed(kind jqKind, bracket string, from int) *jqForm {
	in := p.joined(0)
	p.close(bracket)
	return p.form(kind, from, in)
}

func (p *jqParser) close(bracket string) {
	if !p.tok.is(bracket) {
		p.fail(p.tok.From, "", "%s is missing", bracket)
	}
	p.advance()
}

// call reads the arguments of a function; nth(1) is a path.
func (p *jqParser) call(name token) *jqForm {
	p.advance()
	args := []*jqForm{p.joined(0)}
	for p.tok.is(";") {
		p.advance()
		args = append(args, p.joined(0))
	}
	p.close(")")
	f := p.form(jqCall, name.From, args...)
	if f.name = name.text; f.name == "nth" && len(args) == 1 && rawjson.IsDigits(args[0].text) {
		f.kind, f.text = jqPath, ".["+args[0].text+"]"
	}
	return f
}

// indexPath spells first and last, and what follows, as indices.
func indexPath(path string) string {
	for _, of := range [...]struct{ name, index string }{{"first", ".[0]"}, {"last", ".[-1]"}} {
		if rest, ok := strings.CutPrefix(path, of.name); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return of.index + rest
		}
	}
	return path
}

// stages are the parts of a pipe, or the form alone.
func (f *jqForm) stages() []*jqForm {
	if f.kind == jqPipe {
		return f.args
	}
	return []*jqForm{f}
}

// piped is the pipe of stages, or the only one.
func piped(stages []*jqForm) *jqForm {
	if len(stages) == 1 {
		return stages[0]
	}
	texts := make([]string, len(stages))
	for i, stage := range stages {
		texts[i] = stage.text
	}
	return &jqForm{kind: jqPipe, text: strings.Join(texts, " | "), args: stages}
}
