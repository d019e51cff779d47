package expr

import "regexp"

// A node is a part of a parsed expression.
type node interface{ where() span }

// A span is where in the source a node stands, in bytes.
type span struct{ from, to int }

func (s span) where() span { return s }

// of is the source text of the span.
func (s span) of(src string) string { return src[s.from:s.to] }

type (
	// literal is a constant.
	literal struct {
		span
		value value
	}

	// pathNode reads a value out of a document.
	pathNode struct {
		span
		*path
	}

	// variable is $exit and its kin; $json is a pathNode.
	variable struct {
		span
		name   string
		header string // for $header
	}

	// group is a node in parentheses.
	group struct {
		span
		x node
	}

	// negation is "not x" or "!x".
	negation struct {
		span
		x node
	}

	// logic is a chain of "and", or of "or".
	logic struct {
		span
		or bool
		xs []node
	}

	// comparison is "left op right".
	comparison struct {
		span
		op          compareOp
		opSpan      span
		left, right node
		pattern     *regexp.Regexp // for =~ and !~
	}

	// alternative is "left // right".
	alternative struct {
		span
		left, right node
	}

	// pipe is "x | y | z".
	pipe struct {
		span
		xs []node
	}

	// call is a function.
	call struct {
		span
		fn      function
		args    []value        // constants
		pattern *regexp.Regexp // for test
		path    node           // for exists
		each    *path          // for any, all and count: nil for the elements of .
		cond    node           // likewise: nil for the element itself
	}
)

// A compareOp is a comparison operator.
type compareOp uint8

const (
	opEqual compareOp = iota + 1
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opMatch
	opNotMatch
	opIn
	opContains
	opStartsWith
	opEndsWith
)

// compareOps spells the operators, by their number.
var compareOps = [...]string{
	opEqual: "==", opNotEqual: "!=", opLess: "<", opLessEqual: "<=", opGreater: ">", opGreaterEqual: ">=",
	opMatch: "=~", opNotMatch: "!~", opIn: "in", opContains: "contains", opStartsWith: "startswith", opEndsWith: "endswith",
}

func (op compareOp) String() string { return compareOps[op] }

// ungroup takes the parentheses off, and the mark of what is fixed.
func ungroup(n node) node {
	for {
		switch x := n.(type) {
		case *group:
			n = x.x
		case *fixed:
			n = x.node
		default:
			return n
		}
	}
}

// A function is something that is called, with arguments or after a pipe.
type function uint8

const (
	fnLength function = iota + 1
	fnType
	fnNot
	fnToNumber
	fnToString
	fnDowncase
	fnUpcase
	fnFromJSON
	fnAny
	fnAll
	fnCount
	fnExists
	fnTest
	fnStartsWith
	fnEndsWith
	fnContains
	fnHas
	fnIn
)

// bareFunction is the function of a name that needs no arguments, 0 if it is none.
func bareFunction(name string) function {
	switch name {
	case "length":
		return fnLength
	case "type":
		return fnType
	case "not":
		return fnNot
	case "tonumber":
		return fnToNumber
	case "tostring":
		return fnToString
	case "ascii_downcase":
		return fnDowncase
	case "ascii_upcase":
		return fnUpcase
	case "fromjson":
		return fnFromJSON
	case "any":
		return fnAny
	case "all":
		return fnAll
	}
	return 0
}

// callFunction is the function of a name that takes arguments, 0 if it is none.
func callFunction(name string) function {
	switch name {
	case "any":
		return fnAny
	case "all":
		return fnAll
	case "count":
		return fnCount
	case "exists":
		return fnExists
	case "test":
		return fnTest
	case "startswith":
		return fnStartsWith
	case "endswith":
		return fnEndsWith
	case "contains":
		return fnContains
	case "has":
		return fnHas
	case "IN":
		return fnIn
	}
	return 0
}
