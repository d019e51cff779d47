package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What the learner costs on real runs, from the first on. A change for the
// worse is a defect; one for the better, a reason to change the figures.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	tr, err := openTrace("testdata/linkerd.csv")
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[float64]result{
		0.01: {
			aws: 54.75, geometric: 71.74, fixed: 12.68, exact: 8.47, told: 8.49, defaults: 8.43, optimum: 5.59,
			polls: 4.41, delay: 4.02,
		},
		0.05: {
			aws: 260.05, geometric: 338.25, fixed: 24.10, exact: 18.65, told: 19.42, defaults: 19.44, optimum: 14.35,
			polls: 2.33, delay: 7.76,
		},
	} {
		have, err := evaluate(tr, share)
		if err != nil {
			t.Fatal(err)
		}
		near := cmpopts.EquateApprox(0.01, 0.005)
		if diff := cmp.Diff(want, have, near, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("a poll worth %v of the median (-want +got)\n%s", share, diff)
		}
	}
}
