package plan

import (
	"testing"
	"time"

	"github.com/pollcli/poll/backoff/learn"
)

func TestParseCost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]learn.Cost{
		"1%":      {Share: 0.01},
		"0.5%":    {Share: 0.005},
		"0.0001%": {Share: 1e-6},
		"100%":    {Share: 1},
		"2s":      {Delay: 2 * time.Second},
		"500ms":   {Delay: 500 * time.Millisecond},
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
