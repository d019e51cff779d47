package cli

import (
	"testing"
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestInstant(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		json string
		want time.Time // zero for an error
	}{
		{`"2026-01-02T03:04:05Z"`, want},
		{`"2026-01-02T04:04:05+01:00"`, want},
		{`"2026-01-02T03:04:05.25Z"`, want.Add(250 * time.Millisecond)},
		{`1767323045`, want},
		{`1767323045.25`, want.Add(250 * time.Millisecond)},
		{`1767323045250`, want.Add(250 * time.Millisecond)},
		{`1.767323045e9`, want},
		{`"1767323045"`, want},
		{`0`, time.Unix(0, 0)},
		{`-1`, time.Time{}},
		{`1e99`, time.Time{}},
		{`1767323045000000000`, time.Time{}},
		{`"2026-01-02"`, time.Time{}},
		{`"0x1p30"`, time.Time{}},
		{`""`, time.Time{}},
		{`null`, time.Time{}},
		{`true`, time.Time{}},
		{`[1767323045]`, time.Time{}},
	} {
		e, err := expr.CompileValue(".at")
		if err != nil {
			t.Fatal(err)
		}
		o := &status.Observation{Body: []byte(`{"at":` + test.json + `}`)}
		have, err := instantOf(t.Context(), "started-at", e, o)
		if (err != nil) != test.want.IsZero() || err == nil && !have.Equal(test.want) {
			t.Errorf("%s: have %v, %v, want %v", test.json, have, err, test.want)
		}
	}
}
