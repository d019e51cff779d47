package expr

// A Result is the outcome of one evaluation.
type Result struct {
	Tri Tri

	expr  *Expr
	env   *Env
	value value
}

// Matched reports whether the condition is true.
func (r Result) Matched() bool { return r.Tri == True }

// Value returns the value of the expression; for a condition it is true or
// false.
func (r Result) Value() Value {
	v := r.value
	switch v.kind {
	case KindUnknown:
		if r.expr == nil {
			return Value{}
		}
		return Value{Reason: v.fault.words(r.expr.src, r.env.Doc)}
	case KindMissing:
		return Value{Kind: KindMissing, Reason: r.expr.src + " is missing"}
	case kindLines:
		return Value{Kind: KindArray, Raw: v.raw}
	}
	return Value{Kind: v.kind, Raw: v.json(), text: v.str}
}

// Explain says why the outcome is what it is, in at most max lines.
func (r Result) Explain(max int) []string { return nil }

// Notes lists what is odd about a match.
func (r Result) Notes() []string { return nil }
