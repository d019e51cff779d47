// Package expr is the condition language of poll: one expression asks one
// question about one answer.
//
//	.state == "done"
//	.status.conditions.#(type=="Ready").status == "True"
//	all(.items[]; .status.phase == "Running") and (.items | length) > 0
//	$status == 503 || $body contains "warming up"
//
// A path with a leading dot follows jq; a path without one follows gjson. Types
// are never converted: "3" is not 3. There are three outcomes, true, false and unknown.
// A comparison of values of different types is unknown; null tests whether there is a value of any type.
// What jq stops at with an error is unknown here, and so is every path if the answer is not JSON.
// Only true matches.
//
// A comparison or a function of what is missing or null is unknown, as in SQL, unless it is compared
// with null or with a list that holds null. exists, has, // and $gone ask for absence, too. A path
// that is missing or null is false as a condition, but a condition that is true by such absence
// alone is unknown. So is any, all or count if an element decides by what it lacks.
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
// An expression that begins with "jq:" is a program in jq, of which only true and false
// are outcomes; anything else is unknown.
//
// docs/conditions.md shows the language by examples.
//
// gjson finds the values, with precautions: a document is checked before it is read
// (depth and validity, in one pass), each step is applied only to the type it is meant
// for, and queries compare text with text.
package expr
