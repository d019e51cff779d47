package expr

import "testing"

// The truth table of evidence: of nothing, of what was found, of what is absent, and of what no
// element has.
func TestEvidence(t *testing.T) {
	t.Parallel()
	none, found, absent := evidence{}, evidence{found: true}, evidence{missed: ".x"}
	lacks := evidence{missed: ".x.#(y==1)", lacks: true}
	for _, row := range []struct {
		a, b          evidence
		and, or, each bool // whether the outcome rests on absence
	}{
		{none, none, false, false, false},
		{none, found, false, false, false},
		{none, absent, true, false, true},
		{found, found, false, false, false},
		{found, absent, false, false, true},
		{absent, absent, true, true, true},
		{none, lacks, true, false, true},
		{found, lacks, true, false, true},
		{absent, lacks, true, true, true},
	} {
		for _, pair := range [][2]evidence{{row.a, row.b}, {row.b, row.a}} {
			a, b := pair[0], pair[1]
			if a.both(b).isAbsent() != row.and || a.either(b, false).isAbsent() != row.or || a.either(b, true).isAbsent() != row.each {
				t.Errorf("%+v, %+v: and %+v, or %+v, each %+v", a, b, a.both(b), a.either(b, false), a.either(b, true))
			}
		}
	}
}
