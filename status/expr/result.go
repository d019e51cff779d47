package expr

import (
	"slices"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Result is the outcome of one evaluation.
type Result struct {
	Tri Tri

	expr  *Expr
	env   *Env
	value value
}

// Matched reports whether the condition is true.
func (r Result) Matched() bool { return r.Tri == True }

// Abandoned reports whether there was no time left to evaluate the expression. Nothing is
// known then, and it may be evaluated again.
func (r Result) Abandoned() bool {
	return r.value.fault != nil && r.value.fault.code == faultAbandoned
}

// Value returns the value of the expression; for a comparison it is true or false.
func (r Result) Value() Value {
	v := r.value
	switch v.kind {
	case KindUnknown:
		if r.expr == nil {
			return Value{}
		}
		return Value{Reason: rawjson.OneLine(v.fault.words(r.expr.src))}
	case KindMissing:
		return Value{Kind: KindMissing, Reason: rawjson.OneLine(r.expr.src) + " is missing"}
	case kindLines:
		return Value{Kind: KindArray, Raw: v.raw}
	}
	return Value{Kind: v.kind, Raw: v.json(), text: v.str}
}

// Explain says why the outcome is what it is, in at most max lines: one for each
// comparison or other part that decided it, in the order of the source, such as
//
//	.state is "pending", want == "done"
//
// Values are cut to 60 characters, and those of headers are not shown. Explain evaluates
// the expression once more.
func (r Result) Explain(max int) []string {
	lines, _ := r.Account(max)
	return lines
}

// Account returns what [Result.Explain] and [Result.Notes] do, for one more evaluation
// instead of two.
func (r Result) Account(max int) (lines, notes []string) {
	if r.expr == nil {
		return nil, nil
	}
	x := r.explain()
	if r.Tri == True {
		notes = distinct(x.notes, maxNotes)
	}
	return distinct(x.lines, max), notes
}

// Notes lists what is odd about a match, such as
//
//	.state is missing, which is != "pending"
//
// It is empty for any other outcome.
func (r Result) Notes() []string {
	if r.Tri != True {
		return nil
	}
	_, notes := r.Account(0)
	return notes
}

const maxNotes = 5

// distinct returns the first distinct lines, at most max, and reuses the array of lines.
func distinct(lines []string, max int) []string {
	some := lines[:0]
	for _, line := range lines {
		if len(some) < max && !slices.Contains(some, line) {
			some = append(some, line)
		}
	}
	return some
}
