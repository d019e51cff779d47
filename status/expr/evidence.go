package expr

import "cmp"

// Evidence is what an outcome rests on: whether a path led to something, and one that led nowhere.
// The zero value is that of what has no paths, such as a literal.
type evidence struct {
	found  bool   // a path led to something
	missed string // the source of a path that led nowhere, "" for none
	lacks  bool   // a query tested what no element has: whatever else is there
}

// isAbsent reports whether an outcome rests on nothing but absence. Nothing is known by that.
func (e evidence) isAbsent() bool { return e.lacks || e.missed != "" && !e.found }

// and returns the evidence of what needs both: one that found something is enough, as in
// .state == "done" and not .error.
func (e evidence) and(other evidence) evidence {
	worse := or(other.lacks && !e.lacks, other, e)
	return evidence{e.found || other.found, cmp.Or(worse.missed, e.missed, other.missed), worse.lacks}
}

// or returns the evidence of one of two outcomes: of the better one where one is enough, and of one
// that rests on absence, if there is one, where each has to show something.
func (e evidence) or(other evidence, each bool) evidence {
	if other.isAbsent() == each {
		return other
	}
	return e
}
