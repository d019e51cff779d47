package expr

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/words"
)

// text returns the source of n. For a dot that is not in the source, it returns ".".
func (e *evaluator) text(n *node) string { return cmp.Or(n.text(e.src), ".") }

// eval evaluates n, and returns its value.
func (e *evaluator) eval(n *node) value {
	e.check(0)
	switch n.op {
	case opLiteral:
		return n.literal
	case opPath:
		return e.walk(n.path)
	case opNot:
		return e.not(n.kids[0])
	case opCompare:
		return e.compare(n).result
	case opPipe:
		return e.pipe(n)
	case opAlternative:
		if v := e.unhinted().eval(n.kids[0]); v.truth() != False {
			return v
		}
		return e.unhinted().eval(n.kids[1])
	case opCall:
		return e.call(n)
	case opJQ:
		return e.jq(n.program)
	}
	return e.logic(n)
}

// not evaluates x, and returns its negation. The negation of an unknown condition is unknown.
func (e *evaluator) not(x *node) value {
	v := e.opposed().eval(x)
	if v.truth() == Unknown {
		return v.undecided()
	}
	return boolean(v.truth() == False).derivedFrom(v)
}

// opposed returns a copy of e for the operand of "not". An explanation then describes why the operand is not
// false, instead of why it is not true.
func (e evaluator) opposed() *evaluator {
	e.negated = !e.negated
	return &e
}

// logic evaluates "and" and "or" by Kleene's three-valued logic. A single false operand makes "and" false, and a
// single true operand makes "or" true. Otherwise, an unknown operand makes the result unknown.
//
// logic stops at the first operand that settles the result. It continues if the operand is true or false only
// because a path is missing, or if a true operand of "or" is not affirmed (see [Result.Affirmed]), because a later
// operand may be better evidence.
func (e *evaluator) logic(n *node) value {
	var t tally
	if n.op == opOr {
		t.settles = True
	}
	for _, kid := range n.kids {
		v := e.eval(kid)
		outcome := v.truth()
		if outcome != Unknown || t.counts[Unknown] == 0 { // the first unknown operand gives the reason
			t.add(v, evidence.and)
		}
		if outcome == t.settles && !v.isAbsent() && (v.positive || t.settles == False) {
			break
		}
	}
	decisive := t.settles
	if t.counts[decisive] == 0 {
		if t.counts[Unknown] > 0 {
			return t.values[Unknown].undecided()
		}
		decisive = 1 - t.settles
	}
	return boolean(decisive == True).derivedFrom(t.values[decisive])
}

// pipe evaluates "left | right": it evaluates right with the value of left as ".". If left is unknown, the result is
// unknown.
func (e *evaluator) pipe(n *node) value {
	v := e.eval(n.kids[0])
	if v.kind == kindUnknown {
		return v
	}
	return e.with(v, e.text(n.kids[0])).eval(n.kids[1])
}

// call evaluates exists, any, all or count, or applies a function to the value of ".".
func (e *evaluator) call(n *node) value {
	switch {
	case n.name == "exists":
		return e.exists(n.kids[0])
	case !n.isFunction():
		return e.quantify(n, false).whole
	}
	v := e.root(&path{})
	if v.kind == kindUnknown {
		return v
	}
	result, problem := e.apply(n, v)
	switch {
	case v.lost != (cut{}):
		problem = needsAll(v.lost)
	case v.isNothing() && n.name != "has":
		problem = needsValue
	}
	if problem != "" {
		result = typeError(e.subject, v, e.text(n)+" "+problem)
	}
	result = result.derivedFrom(v)
	result.positive = result.positive && !(n.name == "has" && result.isEmpty())
	return result
}

// exists evaluates exists(path). The result is true if path leads to a value, even null, and false if it leads
// nowhere or through a value of the wrong type. The result is unknown if there is no response, or no readable
// document.
func (e *evaluator) exists(n *node) value {
	v := e.unhinted().eval(n)
	if v.kind == kindUnknown && e.root(n.path).kind == kindUnknown {
		return v
	}
	is := boolean(v.kind > kindMissing)
	is.positive = v.positive
	return is
}

// quantify evaluates the condition of any, all or count for each element of the list. For any and all, it stops as
// soon as the result is settled, unless the parameter all is true.
func (e *evaluator) quantify(n *node, all bool) *tally {
	list, condition := n.kids[0].path, n.kids[1]
	t := &tally{settles: map[string]Tri{"any": True, "all": False, "count": Unknown}[n.name]}
	walking, inner := *e, e.with(value{}, "")
	w := &walker{evaluator: &walking, path: list}
	w.visit = func(at place, element value) (more bool) {
		v := element
		if v.kind != kindUnknown {
			element.positive = true
			inner.dot = &element
			v = inner.eval(condition)
		}
		if t.addElement(at, element, v); t.total == 3 { // three elements give enough hints
			walking.hints, inner.hints = nil, nil
		}
		return all || n.name == "count" || v.truth() != t.settles || v.isAbsent()
	}
	w.walk(place{}, e.root(list), list.steps)
	t.whole = t.outcome(w.problem)
	return t
}

// A comparison holds the operands and the result of a comparison.
type comparison struct {
	left, right value
	result      value
	problem     string // why two known values cannot be compared, or ""
	isAbsent    bool   // an operand is null, missing, or derived from a missing value, and the condition does not test for null
}

// compare evaluates the comparison n. If an operand is unknown, the result is that operand's unknown value, except
// that a count whose known part already satisfies > or >= a constant gives true.
func (e *evaluator) compare(n *node) (c comparison) {
	left, right := n.kids[0], n.kids[1]
	operands := e
	if e.isNullOnPurpose(left, left.literal) || e.isNullOnPurpose(right, right.literal) {
		operands = e.unhinted()
	}
	c.left = operands.eval(left)
	if c.left.least > 0 && n.sign[0] == '>' && right.op == opLiteral {
		least := integer(c.left.least)
		least.ground = onValue
		if enough, _ := e.compareValues(n, least, right.literal); enough { // the unknown elements cannot change the result
			c.left = least
		}
	}
	if c.result = c.left; c.left.kind == kindUnknown {
		return c
	}
	c.right = operands.eval(right)
	if c.result = c.right; c.right.kind != kindUnknown {
		e.compareKnown(n, &c)
	}
	return c
}

// compareKnown evaluates the comparison n of the known values c.left and c.right, and sets c.result. As in SQL, the
// result is unknown if a value is missing or null, unless the condition tests for null.
func (e *evaluator) compareKnown(n *node, c *comparison) {
	a, b := c.left, c.right
	holds, problem := e.compareValues(n, a, b)
	onPurpose := e.isNullOnPurpose(n.kids[0], a) || e.isNullOnPurpose(n.kids[1], b)
	lost := cmp.Or(a.lost, b.lost)
	if holds && a.shows(n.sign) {
		lost = b.lost
	}
	if lost != (cut{}) {
		problem = cmp.Or(problem, needsAll(lost))
	}
	switch c.problem = problem; {
	case !onPurpose && (a.isNothing() || b.isNothing()):
		c.isAbsent = true
		side, nothing := n.kids[0], a
		if !a.isNothing() {
			side, nothing = n.kids[1], b
		}
		c.result = unknown(cmp.Or(nothing.missed, e.text(side)) + nothing.absence())
		c.result.evidence = evidence{ground: onAbsence, missed: e.text(side)}
		return
	case problem != "":
		side, v := c.unsuitable(n)
		c.result = typeError(e.text(side), v, n.sign+" "+problem)
		return
	}
	for _, side := range []*value{&a, &b} {
		if onPurpose && side.isNull() && side.isAbsent() {
			side.ground = onNothing
		}
	}
	c.result = boolean(holds).derivedFrom(a, b)
	c.result.positive = c.result.positive && holds == (n.sign[0] != '!')
	if !holds && e.hints != nil && e.lineThatMatches(n, a, b) != "" {
		e.hints.has = append(e.hints.has, "^ and $ match the ends of the whole text: begin the pattern with (?m) to match the ends of each line")
	}
}

// unsuitable returns the operand that causes c.problem, together with its value.
func (c *comparison) unsuitable(n *node) (side *node, v value) {
	isRight := n.sign == "in" && c.problem != needsAlike || c.problem == needsText && c.left.kind == kindString ||
		c.problem == needsOrder && n.kids[0].op == opLiteral
	if isRight {
		return n.kids[1], c.right
	}
	return n.kids[0], c.left
}

// isNullOnPurpose reports whether a comparison deliberately tests for null: the operand n is written as null, or as
// a list that contains null. n may also be a // expression that ends with such a constant, unless v, the value of n,
// comes from the left side of the //.
func (e *evaluator) isNullOnPurpose(n *node, v value) bool {
	for n.op == opAlternative {
		n = n.kids[1]
	}
	if n.op != opLiteral || v.kind != n.literal.kind {
		return false
	}
	hasNull, _ := e.has(v, missing())
	return v.kind == kindNull || v.kind == kindArray && hasNull
}

// lineThatMatches returns the first line of left for which the comparison n with right is true. It returns "" if no
// line matches, if left has only one line or must not be shown, or if the operator is neither contains nor =~.
func (e *evaluator) lineThatMatches(n *node, left, right value) string {
	if !isOneOf(n.sign, " contains =~ ") || left.kind != kindString || left.hidden || !strings.Contains(left.str, "\n") {
		return ""
	}
	for line := range strings.Lines(left.str) {
		line = strings.TrimSpace(line)
		if holds, _ := e.compareValues(n, text(line), right); holds {
			return line
		}
	}
	return ""
}

// apply applies the function n to v, a known value. If the function cannot be applied to v, problem states why.
func (e *evaluator) apply(n *node, v value) (result value, problem string) {
	switch n.name {
	case "length":
		switch v.kind {
		case kindString:
			return integer(utf8.RuneCountInString(v.str)), ""
		case kindNumber: // the length of a number is its absolute value, as in jq
			return number(strings.TrimPrefix(v.raw, "-")), ""
		case kindArray, kindObject:
			return integer(e.count(v)), ""
		}
		return v, "needs text, a number, a list or an object"
	case "type":
		return text(v.kind.String()), ""
	case "not":
		return boolean(v.truth() == False), ""
	case "tostring":
		switch {
		case v.kind == kindString:
			return v, ""
		case len(v.raw) > maxResult:
			return v, "needs a smaller value"
		}
		return text(marshal(v.decoded())), ""
	case "tonumber":
		if v.kind == kindString && isJSON(v.str) {
			v = parseValue(v.str)
		}
		if v.kind == kindNumber {
			return v, ""
		}
		return v, "needs the text of a number"
	case "has":
		key := n.kids[0].literal
		isKey := v.kind == kindObject && key.kind == kindString || v.kind == kindArray && key.kind == kindNumber
		if !isKey && !v.isNull() {
			return v, "needs an object for a key, or a list for a number"
		}
		return boolean(isKey && e.member(v, cmp.Or(key.str, key.raw)).kind != kindMissing), ""
	}
	switch {
	case v.kind != kindString:
		return v, needsText
	case n.name == "ascii_downcase":
		return text(upperLetters().ReplaceAllStringFunc(v.str, strings.ToLower)), ""
	case n.name == "ascii_upcase":
		return text(lowerLetters().ReplaceAllStringFunc(v.str, strings.ToUpper)), ""
	case isJSON(v.str):
		return parseValue(v.str), ""
	}
	return v, "needs JSON text"
}

// upperLetters matches the letters that ascii_downcase changes, and lowerLetters matches the letters that
// ascii_upcase changes.
var upperLetters = words.Pattern(`[A-Z]+`)
var lowerLetters = words.Pattern(`[a-z]+`)
