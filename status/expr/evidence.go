package expr

import "cmp"

// Evidence is the ground of an outcome: whether a path led to something, and a path that led nowhere.
// The zero value is for a value without paths, such as a literal.
type evidence struct {
	found  bool   // a path led to something
	missed string // the source of a path that led nowhere, "" for none
	lacks  bool   // a query tested a member that no element has, which outweighs found
}

// isAbsent reports whether an outcome rests on nothing but absence. Nothing is known by that.
func (e evidence) isAbsent() bool { return e.lacks || e.missed != "" && !e.found }

// and returns the evidence of an outcome that needs both: one that found something is enough, as in
// .state == "done" and not .error.
func (e evidence) and(other evidence) evidence {
	worse := or(other.lacks && !e.lacks, other, e)
	return evidence{e.found || other.found, cmp.Or(worse.missed, e.missed, other.missed), worse.lacks}
}

// or returns the evidence of one of two outcomes. Where each has to show something, that is one that
// rests on absence, if there is one; where one is enough, it is one that does not.
func (e evidence) or(other evidence, each bool) evidence {
	return or(other.isAbsent() == each, other, e)
}
