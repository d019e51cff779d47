package cli

import "testing"

func TestHistogramStep(t *testing.T) {
	t.Parallel()
	for least, want := range map[float64]float64{
		0: 0.001, 0.0011: 0.002, 0.3: 0.5, 0.6: 1, 1: 1, 4: 5, 7: 10, 10: 10,
		11: 15, 16: 30, 61: 120, 3601: 7200, 86400: 86400, 1e6: 1e6,
	} {
		if have := roundStep(least); have != want {
			t.Errorf("roundStep(%v) = %v, want %v", least, have, want)
		}
	}
}
