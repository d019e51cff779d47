// Package expr is the condition language of poll. An expression is a condition on one response, or a value in it.
//
//	.state == "done"
//	.status.conditions.#(type=="Ready").status == "True"
//	all(.items[]; .status.phase == "Running") and (.items | length) > 0
//	$status == 503 || $body contains "warming up"
//
// A path with a leading dot follows jq; a path without one follows gjson. Types
// are never converted: "3" is not 3. There are three outcomes, true, false and unknown.
// A comparison of values of different types is unknown. A comparison with null tests whether there is a value of
// any type. A runtime error of jq is unknown here, and every path is unknown if the response is not JSON.
// Only true matches.
//
// A comparison or a function of a missing or null value is unknown, as in SQL, unless the value is compared
// with null or with a list that holds null. exists, has, // and $gone test absence, too. A path
// that is missing or null is false as a condition, but a condition that is true by such absence
// alone is unknown. any, all and count are unknown if an element decides by absence.
//
// The grammar, from the loosest operator to the tightest:
//
//	pipe        = alternative { "|" alternative }
//	alternative = or [ "//" alternative ]
//	or          = and { ( "||" | "or" ) and }
//	and         = not { ( "&&" | "and" ) not }
//	not         = "not" not | "!" ( "!" not | operand ) | comparison
//	comparison  = operand [ operator operand ]
//	operator    = "==" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~"
//	            | "in" | "contains" | "startswith" | "endswith"
//	operand     = literal | path | variable | function | "(" pipe ")"
//
// An expression that starts with "jq:" is a program in jq. As a condition, a program is true or false, and
// any other value is unknown.
//
// docs/conditions.md shows the language by examples.
//
// gjson finds the values, with precautions: a document is checked before it is read
// (depth and validity), each step is applied only to values of the right type, and
// queries compare text with text.
//
// The files stand above each other, and calls point down. From the bottom:
//
//	value       the values of parts of an expression, and their evidence
//	document    a response as JSON
//	env         the variables of an attempt
//	hints       the table of messages and hints, and suggestions for missing members
//	scan        the tokens of a source
//	path        the syntax of paths
//	tree        the nodes of a parsed expression, and what they must not be
//	parse       the grammar
//	jq          programs in jq
//	walk        the value that a path leads to
//	operators   comparisons of known values
//	elements    the elements of lists: for any, all and count, and for [Each]
//	eval        the value of a node
//	explain     the lines and notes that explain an outcome
//	expr        [Expr], [Result] and [Explanation]
package expr
