package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

func TestCover(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table backoff.Table
		at    time.Duration
		want  coverage
	}{
		{"between two attempts", backoff.Table{}, 500 * ms, coverage{500 * ms, 2, 300 * ms, 700 * ms, 400 * ms}},
		{"just after an attempt", backoff.Table{}, 700 * ms, coverage{700 * ms, 3, 700 * ms, 1500 * ms, 800 * ms}},
		{"before the first", backoff.Table{}, 50 * ms, coverage{50 * ms, 0, 0, 100 * ms, 100 * ms}},
		{"after the last", backoff.Table{Attempts: 2}, s, coverage{s, 2, 300 * ms, 0, 0}},
		{"the longest under jitter", backoff.Table{Schedule: backoff.Full{}}, 100 * ms, coverage{100 * ms, 1, 50 * ms, 150 * ms, 200 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := cover(tt.table, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(coverage{})); diff != "" {
				t.Errorf("coverage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCover_givesUp(t *testing.T) {
	t.Parallel()
	if c, err := cover(backoff.Table{Schedule: backoff.Fixed(0)}, s); err == nil {
		t.Errorf("coverage %+v, want an error: no time ever passes", c)
	}
}
