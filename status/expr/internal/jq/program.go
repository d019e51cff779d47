// Package jq compiles and runs programs in jq, and spells some of them in the condition
// language. The programs are run by gojq, which only this package imports.
//
// A program reads its input and the variables that it is given: no files, modules or
// further inputs, and of the environment what it names.
package jq

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// maxSource is the longest program, in bytes.
const maxSource = 16 << 10

// A Program is a compiled program. It is immutable and safe for concurrent use.
type Program struct {
	// Reads is what the program reads.
	Reads Reads
	// Gives names what the program gives if that is never true or false: "a list".
	Gives string
	// Or and And are the operands of a program that is "x or y" or "x and y".
	Or, And []*Program
	// Compared is the value that the program compares, nil if it is no comparison. Wanted
	// is the rest of it: "== 0".
	Compared *Program
	Wanted   string

	source string
	code   func() (*gojq.Code, error) // compiles it, once
}

// String returns the source of the program.
func (p *Program) String() string { return p.source }

// An Error says why a program does not compile.
type Error struct {
	Offset  int // in the source, in bytes
	Message string
	Hint    string
}

// A compiler holds what the parts of one program share.
type compiler struct {
	names   map[string]bool // of variables that may be named, with their $
	environ []string        // NAME=value, for the variables of the environment that are named
}

// Compile compiles a program, which may name the variables. environ finds variables of
// the environment.
func Compile(src string, variables []string, environ func(string) (string, bool)) (p *Program, problem *Error) {
	defer func() {
		if recover() != nil {
			p, problem = nil, &Error{Message: "gojq fails to read it, which is a defect of poll or gojq"}
		}
	}()
	switch {
	case len(src) > maxSource:
		return nil, &Error{Message: fmt.Sprintf("the program is longer than %d KiB", maxSource>>10)}
	case strings.TrimSpace(src) == "":
		return nil, &Error{Message: "the program is empty", Hint: `write one such as .state == "done"`}
	}
	query, err := gojq.Parse(src)
	if err != nil {
		return nil, misspelled(src, err)
	}
	c := &compiler{names: map[string]bool{}}
	for _, name := range variables {
		c.names["$"+name] = true
	}
	if problem := c.readEnviron(query, src, environ); problem != nil {
		return nil, problem
	}
	p = c.program(query)
	if _, err := p.code(); err != nil {
		return nil, refused(src, err)
	}
	p.source, p.Gives = strings.TrimSpace(src), kindOf(query)
	return p, nil
}

// program is the program of a query, or of a part of it.
func (c *compiler) program(query *gojq.Query) *Program {
	p := &Program{Reads: readsOf(query, c.names), source: query.String()}
	p.code = sync.OnceValues(func() (*gojq.Code, error) {
		return gojq.Compile(query,
			gojq.WithVariables(p.Reads.variables()), gojq.WithEnvironLoader(func() []string { return c.environ }))
	})
	switch inner := ungrouped(query); {
	case len(inner.FuncDefs) > 0:
	case inner.Op == gojq.OpOr:
		p.Or = []*Program{c.program(inner.Left), c.program(inner.Right)}
	case inner.Op == gojq.OpAnd:
		p.And = []*Program{c.program(inner.Left), c.program(inner.Right)}
	default:
		if left, op, right := comparison(inner); left != nil {
			p.Wanted = op + " " + right.String()
			p.Compared = c.program(left)
		}
	}
	return p
}

// ungrouped removes parentheses.
func ungrouped(q *gojq.Query) *gojq.Query {
	for q.Term != nil && q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0 {
		q = q.Term.Query
	}
	return q
}

// comparison takes a comparison apart, x | y == z as that of x | y where z is a constant.
// left is nil if q is no comparison.
func comparison(q *gojq.Query) (left *gojq.Query, op string, right *gojq.Query) {
	switch {
	case isComparison(q.Op):
		return q.Left, q.Op.String(), q.Right
	case q.Op != gojq.OpPipe || q.Patterns != nil || len(q.FuncDefs) > 0:
		return nil, "", nil
	}
	last := q.Right
	for last.Op == gojq.OpPipe && last.Patterns == nil && len(last.FuncDefs) == 0 {
		q = &gojq.Query{Left: &gojq.Query{Left: q.Left, Op: gojq.OpPipe, Right: last.Left}, Op: gojq.OpPipe, Right: last.Right}
		last = last.Right
	}
	if !isComparison(last.Op) || !isConstant(last.Right) || len(last.FuncDefs) > 0 {
		return nil, "", nil
	}
	return &gojq.Query{Left: q.Left, Op: gojq.OpPipe, Right: last.Left}, last.Op.String(), last.Right
}

func isComparison(op gojq.Operator) bool { return gojq.OpEq <= op && op <= gojq.OpLe }

// isConstant reports whether q is a number, a text, true, false or null.
func isConstant(q *gojq.Query) bool {
	t := q.Term
	if t == nil || len(t.SuffixList) > 0 {
		return false
	}
	switch t.Type {
	case gojq.TermTypeNumber, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNull:
		return true
	case gojq.TermTypeUnary:
		return t.Unary.Term.Type == gojq.TermTypeNumber
	}
	return t.Type == gojq.TermTypeString && t.Str.Queries == nil
}

// kindOf names what a query gives if it is never true or false, "" if it may be.
func kindOf(q *gojq.Query) string {
	q = ungrouped(q)
	switch op := q.Op; {
	case op == gojq.OpPipe:
		return kindOf(q.Right)
	case op == gojq.OpComma:
		return "several values"
	case gojq.OpAdd <= op && op <= gojq.OpMod:
		return "the result of " + op.String()
	case op >= gojq.OpAssign:
		return "what " + op.String() + " has changed"
	case q.Term == nil || len(q.Term.SuffixList) > 0:
		return ""
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeArray:
		return "a list"
	case gojq.TermTypeObject:
		return "an object"
	case gojq.TermTypeString, gojq.TermTypeFormat:
		return "text"
	case gojq.TermTypeNumber, gojq.TermTypeUnary:
		return "a number"
	case gojq.TermTypeFunc:
		return map[string]string{
			"length": "a number", "keys": "a list", "map": "a list", "to_entries": "a list", "select": "what it lets through",
			"$exit": "a number", "$status": "a number", "$attempt": "a number", "$elapsed": "a number",
			"$body": "text", "$stdout": "text", "$stderr": "text",
		}[t.Func.Name]
	}
	return ""
}

// misspelled is the error for a program that is not jq.
func misspelled(src string, err error) *Error {
	e, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return &Error{Message: err.Error()}
	}
	message := strings.NewReplacer("unexpected EOF", "it ends too early", "unexpected token", "unexpected").Replace(e.Error())
	return &Error{Offset: min(max(e.Offset-len(e.Token), 0), len(src)), Message: message}
}

// refused is the error for a program that gojq does not compile.
func refused(src string, err error) *Error {
	e := &Error{Message: err.Error()}
	kind, name, _ := strings.Cut(e.Message, ": ")
	function, _, _ := strings.Cut(name, "/")
	switch {
	case kind == "variable not defined":
		e.Hint = "variables are those of the condition language, such as $status, and your own"
	case kind != "function not defined":
		function = ""
	case strings.Contains(src, "-"+function):
		e.Hint = `a name with a hyphen is written in quotes: $header["Retry-After"], .["a-b"]`
	}
	start := len(src) - len(strings.TrimLeft(src, " \t\r\n"))
	e.Offset = max(strings.Index(src, function), start)
	return e
}
