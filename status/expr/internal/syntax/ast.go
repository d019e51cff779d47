package syntax

import (
	"regexp"
	"slices"
)

// A Node is a part of a parsed expression.
type Node interface{ Where() Span }

// A Span is where in the source a node stands, in bytes.
type Span struct{ From, To int }

// Where returns the span itself.
func (s Span) Where() Span { return s }

// Of is the source text of the span.
func (s Span) Of(src string) string { return src[s.From:s.To] }

type (
	// Literal is a constant.
	Literal struct {
		Span
		Constant
	}

	// Variable is $exit or another variable; $json is a path.
	Variable struct {
		Span
		Name   VarName
		Header string // for $header
	}

	// Group is a node in parentheses.
	Group struct {
		Span
		X Node
	}

	// Negation is "not x" or "!x".
	Negation struct {
		Span
		X Node
	}

	// Logic is a chain of "and", or of "or".
	Logic struct {
		Span
		Or bool
		Xs []Node
	}

	// Comparison is "left op right".
	Comparison struct {
		Span
		Op          CompareOp
		OpSpan      Span
		Left, Right Node
		Pattern     *regexp.Regexp // for =~ and !~
	}

	// Alternative is "left // right".
	Alternative struct {
		Span
		Left, Right Node
	}

	// Pipe is "x | y | z".
	Pipe struct {
		Span
		Xs []Node
	}

	// Call is a function.
	Call struct {
		Span
		Function Function
		Args     []Constant
		Pattern  *regexp.Regexp // for test
		Path     Node           // for exists
		Each     *Path          // for any, all and count: nil for the elements of .
		Cond     Node           // likewise: nil for the element itself
	}
)

// A Constant is a value that stands in the source.
type Constant struct {
	Kind ConstantKind
	Raw  string // JSON text; "" for a string
	Text string // the characters of a string
	// Secret is true for a variable of the environment. Its text is never shown.
	Secret bool
}

// A ConstantKind is the type of a constant.
type ConstantKind uint8

const (
	Null ConstantKind = iota
	Bool
	Number
	String
	Array
	Object
)

// A VarName is a variable.
type VarName uint8

const (
	VarJSON VarName = iota
	VarIsJSON
	VarExit
	VarStatus
	VarHeader
	VarBody
	VarStdout
	VarStderr
	VarError
	VarAttempt
	VarElapsed
	VarTarget
	VarGone

	// VarWhole stands for $json and .., which are the answer even where "." is a part of it. It
	// is no name.
	VarWhole
)

// variables spells the variables, by their number.
var variables = [...]string{"json", "isjson", "exit", "status", "header", "body", "stdout", "stderr", "error", "attempt", "elapsed", "name", "gone"}

// String returns the name without its $.
func (v VarName) String() string { return variables[v] }

// VariableNames returns the names of the variables, without their $.
func VariableNames() []string { return slices.Clone(variables[:]) }

// VariableOf is the variable of one of these names.
func VariableOf(name string) VarName { return VarName(slices.Index(variables[:], name)) }

// A reads is the set of variables that an expression reads; $json stands for any path.
type reads uint16

// add notes that a variable is read.
func (r *reads) add(v VarName) { *r |= 1 << v }

// Has reports whether a variable is read.
func (r reads) Has(v VarName) bool { return r>>v&1 != 0 }

// A CompareOp is a comparison operator.
type CompareOp uint8

const (
	OpEqual CompareOp = iota + 1
	OpNotEqual
	OpLess
	OpLessEqual
	OpGreater
	OpGreaterEqual
	OpMatch
	OpNotMatch
	OpIn
	OpContains
	OpStartsWith
	OpEndsWith

	OpLike // in queries only
	OpNotLike
)

// compareOps are the operators, by their number.
var compareOps = [...]struct {
	text, opposite string
	mirror         CompareOp // with the sides exchanged, 0 for none
}{
	OpEqual:        {"==", "!=", OpEqual},
	OpNotEqual:     {"!=", "==", OpNotEqual},
	OpLess:         {"<", ">=", OpGreater},
	OpLessEqual:    {"<=", ">", OpGreaterEqual},
	OpGreater:      {">", "<=", OpLess},
	OpGreaterEqual: {">=", "<", OpLessEqual},
	OpMatch:        {"=~", "!~", 0},
	OpNotMatch:     {"!~", "=~", 0},
	OpIn:           {"in", "not in", 0},
	OpContains:     {"contains", "not contains", 0},
	OpStartsWith:   {"startswith", "not startswith", 0},
	OpEndsWith:     {"endswith", "not endswith", 0},
}

// String returns the operator's sign or word.
func (op CompareOp) String() string { return compareOps[op].text }

// Spell spells the operator, or its opposite.
func (op CompareOp) Spell(negated bool) string {
	if negated {
		return compareOps[op].opposite
	}
	return compareOps[op].text
}

// Mirror is the operator with the sides exchanged; ok is false if there is none.
func (op CompareOp) Mirror() (mirror CompareOp, ok bool) {
	mirror = compareOps[op].mirror
	return mirror, mirror != 0
}

// compareOp is the operator spelled text, 0 if there is none.
func compareOp(text string) CompareOp {
	for op := range compareOps {
		if compareOps[op].text == text && text != "" {
			return CompareOp(op)
		}
	}
	return 0
}

// A Function is a function, called with arguments or after a pipe.
type Function uint8

const (
	FuncLength Function = iota + 1
	FuncType
	FuncNot
	FuncToNumber
	FuncToString
	FuncDowncase
	FuncUpcase
	FuncFromJSON
	FuncAny
	FuncAll
	FuncCount
	FuncExists
	FuncTest
	FuncStartsWith
	FuncEndsWith
	FuncContains
	FuncHas
	FuncIn
)

// functions spells the functions, by their number, and says how they are used.
var functions = [...]struct {
	name   string
	bare   bool // without arguments, after a pipe
	called bool // with arguments
}{
	FuncLength:     {"length", true, false},
	FuncType:       {"type", true, false},
	FuncNot:        {"not", true, false},
	FuncToNumber:   {"tonumber", true, false},
	FuncToString:   {"tostring", true, false},
	FuncDowncase:   {"ascii_downcase", true, false},
	FuncUpcase:     {"ascii_upcase", true, false},
	FuncFromJSON:   {"fromjson", true, false},
	FuncAny:        {"any", true, true},
	FuncAll:        {"all", true, true},
	FuncCount:      {"count", false, true},
	FuncExists:     {"exists", false, true},
	FuncTest:       {"test", false, true},
	FuncStartsWith: {"startswith", false, true},
	FuncEndsWith:   {"endswith", false, true},
	FuncContains:   {"contains", false, true},
	FuncHas:        {"has", false, true},
	FuncIn:         {"IN", false, true},
}

// function is the function of a name, 0 if there is none.
func function(name string) Function {
	for f := range functions {
		if functions[f].name == name && name != "" {
			return Function(f)
		}
	}
	return 0
}

// isBare reports whether the name alone is a function.
func isBare(name string) bool { return functions[function(name)].bare }

// Hoisted is a node in the condition of any, all or count that does not depend on the
// element, such as $json.limit. It is evaluated once, not for each element: otherwise the
// time would grow with the square of the document.
type Hoisted struct {
	Node
	Slot int // where the evaluator keeps the value
}

// LastStage is the node that yields the value of n: the end of a pipe.
func LastStage(n Node) Node {
	n = Ungroup(n)
	if p, ok := n.(*Pipe); ok {
		return LastStage(p.Xs[len(p.Xs)-1])
	}
	return n
}

// Ungroup removes parentheses and the marks of hoisted nodes.
func Ungroup(n Node) Node {
	for {
		switch x := n.(type) {
		case *Group:
			n = x.X
		case *Hoisted:
			n = x.Node
		default:
			return n
		}
	}
}

// LiteralOf returns the literal that n is, perhaps in parentheses.
func LiteralOf(n Node) (*Literal, bool) {
	l, ok := Ungroup(n).(*Literal)
	return l, ok
}

// eachOperand calls visit for the parts of n, except those with another ".": the stages
// after a pipe, and the arguments of a call.
func eachOperand(n Node, visit func(*Node)) {
	switch n := n.(type) {
	case *Group:
		visit(&n.X)
	case *Negation:
		visit(&n.X)
	case *Comparison:
		visit(&n.Left)
		visit(&n.Right)
	case *Alternative:
		visit(&n.Left)
		visit(&n.Right)
	case *Logic:
		for i := range n.Xs {
			visit(&n.Xs[i])
		}
	case *Pipe:
		visit(&n.Xs[0])
	}
}
