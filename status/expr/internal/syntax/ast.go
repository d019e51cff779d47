package syntax

import "regexp"

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

	// Variable is $exit and its kin; $json is a path.
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

// A VarName is the name of a variable.
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
	VarAttempt
	VarElapsed
)

// variables spells the variables, by their number.
var variables = [...]string{"json", "isjson", "exit", "status", "header", "body", "stdout", "stderr", "attempt", "elapsed"}

// String returns the name without its $.
func (v VarName) String() string { return variables[v] }

// A reads is the set of the variables that an expression reads; $json stands for
// any path.
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

// compareOps spells the operators, by their number.
var compareOps = [...]string{
	OpEqual: "==", OpNotEqual: "!=", OpLess: "<", OpLessEqual: "<=", OpGreater: ">", OpGreaterEqual: ">=",
	OpMatch: "=~", OpNotMatch: "!~", OpIn: "in", OpContains: "contains", OpStartsWith: "startswith", OpEndsWith: "endswith",
}

// String returns the sign or the word.
func (op CompareOp) String() string { return compareOps[op] }

// Ungroup takes the parentheses off, and the mark of what is fixed.
func Ungroup(n Node) Node {
	for {
		switch x := n.(type) {
		case *Group:
			n = x.X
		case *Fixed:
			n = x.Node
		default:
			return n
		}
	}
}

// A Function is something that is called, with arguments or after a pipe.
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

// bareFunction is the function of a name that needs no arguments, 0 if it is none.
func bareFunction(name string) Function {
	switch name {
	case "length":
		return FuncLength
	case "type":
		return FuncType
	case "not":
		return FuncNot
	case "tonumber":
		return FuncToNumber
	case "tostring":
		return FuncToString
	case "ascii_downcase":
		return FuncDowncase
	case "ascii_upcase":
		return FuncUpcase
	case "fromjson":
		return FuncFromJSON
	case "any":
		return FuncAny
	case "all":
		return FuncAll
	}
	return 0
}

// callFunction is the function of a name that takes arguments, 0 if it is none.
func callFunction(name string) Function {
	switch name {
	case "any":
		return FuncAny
	case "all":
		return FuncAll
	case "count":
		return FuncCount
	case "exists":
		return FuncExists
	case "test":
		return FuncTest
	case "startswith":
		return FuncStartsWith
	case "endswith":
		return FuncEndsWith
	case "contains":
		return FuncContains
	case "has":
		return FuncHas
	case "IN":
		return FuncIn
	}
	return 0
}

// Fixed is a node in the condition of any, all or count that does not depend on
// the element, such as $json.limit. It is evaluated once, not for each element:
// else the time would grow with the square of the document.
type Fixed struct {
	Node
	Slot int // where the evaluator keeps the value
}

// Spell spells the operator, or its opposite.
func (op CompareOp) Spell(negated bool) string {
	if !negated {
		return op.String()
	}
	switch op {
	case OpEqual:
		return "!="
	case OpNotEqual:
		return "=="
	case OpLess:
		return ">="
	case OpLessEqual:
		return ">"
	case OpGreater:
		return "<="
	case OpGreaterEqual:
		return "<"
	case OpMatch:
		return "!~"
	case OpNotMatch:
		return "=~"
	}
	return "not " + op.String()
}

// Mirror is the operator for the sides exchanged.
func (op CompareOp) Mirror() (CompareOp, bool) {
	switch op {
	case OpEqual, OpNotEqual:
		return op, true
	case OpLess:
		return OpGreater, true
	case OpLessEqual:
		return OpGreaterEqual, true
	case OpGreater:
		return OpLess, true
	case OpGreaterEqual:
		return OpLessEqual, true
	}
	return op, false
}

// LastStage is what the value of n comes out of: the end of a pipe.
func LastStage(n Node) Node {
	n = Ungroup(n)
	if p, ok := n.(*Pipe); ok {
		return LastStage(p.Xs[len(p.Xs)-1])
	}
	return n
}
