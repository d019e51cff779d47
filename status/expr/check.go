package expr

// condition checks that n can be false: a list, a count and a constant cannot, and
// would end a wait by accident. But true is what it says.
func (p *parser) condition(n node) {
	if p.err != nil {
		return
	}
	switch x := ungroup(n).(type) {
	case *pathNode:
		if x.isList() {
			p.fail(x.from, hintList(x, p.src), "%s is always a list, and a list is always true", x.of(p.src))
		}
	case *literal:
		p.conditionLiteral(x)
	case *variable:
		switch x.name {
		case "exit", "status", "attempt", "elapsed":
			p.fail(x.from, "compare it: $"+x.name+usualComparison(x.name), "$%s is a number, and a number is always true", x.name)
		}
	case *call:
		if x.fn == fnCount {
			p.fail(x.from, "compare it: "+x.of(p.src)+" >= 1", "count is a number, and a number is always true")
		}
	case *pipe:
		p.condition(x.xs[len(x.xs)-1])
	case *alternative:
		p.condition(x.left)
		p.condition(x.right)
	}
}

// usualComparison is what a variable that is a number is compared with, as an
// example.
func usualComparison(variable string) string {
	switch variable {
	case "status":
		return " == 200"
	case "attempt":
		return " >= 3"
	case "elapsed":
		return " > 5m"
	}
	return " == 0"
}

// conditionLiteral refuses a constant that is always true.
func (p *parser) conditionLiteral(x *literal) {
	text := x.of(p.src)
	switch x.value.kind {
	case KindArray, KindObject:
		p.fail(x.from, "", "%s is always true", x.value.kind.noun())
	case KindString:
		if isQuestion(x.value.str) {
			p.fail(x.from, "the quotes are part of the expression; without them it is "+x.value.str, "%s is text, and text is always true", text)
			return
		}
		p.fail(x.from, "compare it with a field: .state == "+text, "%s is text, and text is always true", text)
	case KindNumber:
		p.fail(x.from, "compare it: .count == "+text+", or $status == 200 for the HTTP status", "%s is a number, and a number is always true", text)
	}
}

// isQuestion reports whether a text reads like a condition and not like a word.
func isQuestion(text string) bool {
	if len(text) > maxTranslated {
		return false
	}
	n, uses, err := parse(text, true)
	path, isPath := n.(*pathNode)
	return err == nil && uses != (Uses{}) && !(isPath && path.bare)
}

// hintList says how to ask a list whether it has members.
func hintList(n *pathNode, src string) string {
	steps := n.steps
	text := n.of(src)
	if last := steps[len(steps)-1]; last.kind == stepQueryAll {
		return "drop the last # for \"there is one\", or count them: " + text + "|# > 0"
	}
	return "count the members: " + text + "|# > 0"
}
