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
			p.fail(x.from, "compare it: $"+x.name+" == 0", "$%s is a number, and a number is always true", x.name)
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

// conditionLiteral refuses a constant that is always true.
func (p *parser) conditionLiteral(x *literal) {
	text := x.of(p.src)
	switch x.value.kind {
	case KindArray, KindObject:
		p.fail(x.from, "", "%s is always true", x.value.kind.noun())
	case KindString:
		p.fail(x.from, "compare it with a field: .state == "+text, "%s is text, and text is always true", text)
	case KindNumber:
		p.fail(x.from, "compare it: .count == "+text+", or $status == 200 for the HTTP status", "%s is a number, and a number is always true", text)
	}
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
