package learn

import (
	"testing"
	"time"
)

func TestParseCost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cost{
		"1%":      {share: 0.01},
		"0.5%":    {share: 0.005},
		"0.0001%": {share: 1e-6},
		"100%":    {share: 1},
		"2s":      {delay: 2 * time.Second},
		"500ms":   {delay: 500 * time.Millisecond},
	} {
		have, err := parseCost(text)
		if err != nil || have != want {
			t.Errorf("parseCost(%q) = %+v, %v, want %+v", text, have, err, want)
		}
	}
	for _, text := range []string{"", "%", "0%", "-1%", "101%", "1e-300%", "0.00009%", "NaN%", "Inf%", "5", "0s", "0", "-2s", "1%%", "one"} {
		if have, err := parseCost(text); err == nil {
			t.Errorf("parseCost(%q) = %+v, want an error", text, have)
		}
	}
}
