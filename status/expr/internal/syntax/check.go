package syntax

// condition checks that n can be false: a list, a count and a constant cannot, and
// would end a wait by accident. But true is what it says.
func (p *parser) condition(n Node) {
	if p.err != nil {
		return
	}
	switch x := Ungroup(n).(type) {
	case *Path:
		if x.isList() {
			p.fail(x.From, hintList(x, p.src), "%s is always a list, and a list is always true", x.Of(p.src))
		}
	case *Literal:
		p.conditionLiteral(x)
	case *Variable:
		if usual := usualComparisons[x.Name]; usual != "" {
			p.fail(x.From, "compare it: "+usual, "$%s is a number, and a number is always true", x.Name)
		}
	case *Call:
		if x.Function == FuncCount {
			p.fail(x.From, "compare it: "+x.Of(p.src)+" >= 1", "count is a number, and a number is always true")
		}
	case *Pipe:
		p.condition(x.Xs[len(x.Xs)-1])
	case *Alternative:
		p.condition(x.Left)
		p.condition(x.Right)
	}
}

// usualComparisons are examples for the variables that are numbers.
var usualComparisons = [...]string{
	VarExit: "$exit == 0", VarStatus: "$status == 200", VarAttempt: "$attempt >= 3", VarElapsed: "$elapsed > 5m",
}

// conditionLiteral refuses a constant that is always true.
func (p *parser) conditionLiteral(x *Literal) {
	text := x.Of(p.src)
	switch x.Kind {
	case Array:
		p.fail(x.From, "", "a list is always true")
	case Object:
		p.fail(x.From, "", "an object is always true")
	case String:
		if isQuestion(x.Text) {
			p.fail(x.From, "the quotes are part of the expression; without them it is "+x.Text, "%s is text, and text is always true", text)
			return
		}
		p.fail(x.From, "compare it with a field: .state == "+text, "%s is text, and text is always true", text)
	case Number:
		p.fail(x.From, "compare it: .count == "+text+", or $status == 200 for the HTTP status", "%s is a number, and a number is always true", text)
	}
}

// isQuestion reports whether a text reads like a condition and not like a word.
func isQuestion(text string) bool {
	if len(text) > maxTranslated {
		return false
	}
	n, uses, err := parse(text, true)
	path, isPath := n.(*Path)
	return err == nil && uses != 0 && !(isPath && path.bare)
}

// hintList says how to ask a list whether it has members.
func hintList(n *Path, src string) string {
	steps := n.Steps
	text := n.Of(src)
	if last := steps[len(steps)-1]; last.Kind == LookupAll {
		return "drop the last # for \"there is one\", or count them: " + text + "|# > 0"
	}
	return "count the members: " + text + "|# > 0"
}
