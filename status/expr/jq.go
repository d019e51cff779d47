package expr

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr/internal/jq"
	"github.com/pollcli/poll/status/expr/internal/rawjson"
	"github.com/pollcli/poll/status/expr/internal/syntax"
)

// jqPrefix begins an expression that is run by gojq.
const jqPrefix = "jq:"

// compileJQ compiles an expression that begins with jqPrefix.
func compileJQ(src string, condition bool, o options) (*Expr, error) {
	at := strings.Index(src, jqPrefix) + len(jqPrefix)
	p, err := jq.Compile(src[at:], syntax.VariableNames(), o.environ)
	if err == nil && condition && p.Gives != "" {
		blank := len(src[at:]) - len(strings.TrimLeft(src[at:], " \t\r\n"))
		err = &jq.Error{Offset: blank, Message: "this gives " + p.Gives + ", and only true and false decide", Hint: "compare it"}
	}
	if err != nil {
		at += err.Offset
		return nil, &Error{
			Source: src, Offset: at, Column: utf8.RuneCountInString(src[:at]) + 1,
			Message: rawjson.OneLine("jq: " + err.Message), Hint: err.Hint,
		}
	}
	return &Expr{src: src, jq: p, condition: condition}, nil
}

func isJQ(src string) bool { return strings.HasPrefix(strings.TrimSpace(src), jqPrefix) }

// jqValue runs a program. If there is not all that it reads, its operands may still decide,
// by Kleene's logic.
func (e *evaluator) jqValue(p *jq.Program) value {
	if e.jqUnreadable(p.Reads) == nil {
		return e.jqRun(p)
	}
	operands, or := p.And, false
	if p.Or != nil {
		operands, or = p.Or, true
	}
	if operands == nil {
		return unreadable(e.jqUnreadable(p.Reads))
	}
	result := boolean(!or)
	for _, operand := range operands {
		switch v := e.jqValue(operand); v.truth() {
		case triOf(or):
			return boolean(or)
		case Unknown:
			result = v
		}
	}
	return result
}

// jqUnreadable is a document that a program reads and that cannot be read, or that says why a
// variable cannot; nil if there is all that the program reads.
func (e *evaluator) jqUnreadable(r jq.Reads) *Doc {
	if dot := e.env.dot(); r.Input && dot.value().kind == KindUnknown {
		return dot.read()
	}
	for _, name := range r.Variables {
		unknown := false
		if name == "stderr" && e.env.StderrCut {
			return Unreadable("only the end of $stderr is kept")
		}
		switch n := syntax.VariableOf(name); n {
		case syntax.VarJSON:
			unknown = e.env.Doc.value().kind == KindUnknown
		case syntax.VarHeader:
			unknown = e.env.Error != ""
		default:
			unknown = e.variable(&syntax.Variable{Name: n}).kind == KindUnknown
		}
		if unknown {
			return e.env.Doc.read()
		}
	}
	return nil
}

// jqRun runs a program that can read all that it reads.
func (e *evaluator) jqRun(p *jq.Program) value {
	values := make([]any, len(p.Reads.Variables))
	for i, name := range p.Reads.Variables {
		values[i] = e.jqVariable(syntax.VariableOf(name))
	}
	var input any
	if p.Reads.Input {
		input = e.env.dot().decoded()
	}
	ctx := e.env.Context
	if ctx == nil {
		ctx = context.Background()
	}
	raw, err := p.Run(ctx, input, values)
	switch {
	case errors.Is(err, jq.ErrAbandoned):
		panic(abandoned{})
	case err != nil:
		return unknown(fault{code: faultJQ, said: err.Error()})
	}
	v := parseValue(raw)
	v.hidden = p.Reads.Hidden()
	return v
}

// jqVariable is the value of a variable for gojq.
func (e *evaluator) jqVariable(name syntax.VarName) any {
	switch name {
	case syntax.VarJSON:
		return e.env.Doc.decoded()
	case syntax.VarHeader:
		header := map[string]any{}
		for name, values := range e.env.Header {
			header[name] = values[0]
		}
		return header
	}
	switch v := e.variable(&syntax.Variable{Name: name}); v.kind {
	case KindBool:
		return v.raw == "true"
	case KindNumber:
		return json.Number(v.raw)
	case KindString:
		return strings.ToValidUTF8(v.str, "\ufffd")
	}
	return nil
}

// evalJQ evaluates an expression in jq. As a condition only true and false decide.
func (e *evaluator) evalJQ() value {
	v := e.jqValue(e.expr.jq)
	if e.expr.condition && v.kind > KindMissing && v.kind != KindBool {
		hint := ""
		if v.kind != KindNull {
			hint = "; compare it, with != null if it is enough that it is there"
		}
		return unknown(fault{code: faultJQ, said: "gives " + v.kind.noun() + ", and only true and false decide" + hint})
	}
	return v
}

// explainJQ explains the result of an expression in jq, of a comparison by the value
// that is compared.
func (x *explainer) explainJQ(r Result) explanation {
	p := x.expr.jq
	if r.Tri == Unknown {
		return x.unknown(x.src, r.value.fault)
	}
	if p.Compared != nil && !p.Reads.Hidden() {
		if v := x.jqValue(p.Compared); v.kind > KindMissing {
			return x.verdict(r.Tri, false, jqPrefix+" "+p.Compared.String(), v.preview(), p.Wanted, true)
		}
	}
	is := r.value.preview()
	if r.value.kind == KindBool {
		is = r.value.raw
	}
	return x.say(r.Tri, strings.TrimSpace(x.src)+" is "+is)
}
