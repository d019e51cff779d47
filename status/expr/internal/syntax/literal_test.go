package syntax

import (
	"testing"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

func TestParseQuantity(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"5": "5", "5s": "5", "1500ms": "1.5", "1ms": "0.001", "2m": "120", "1.5h": "5400", "-1m": "-60", "1e3ms": "1", "0.5s": "0.5",
	} {
		if have, ok := parseQuantity(in); !ok || rawjson.CompareNumbers(have, want) != 0 {
			t.Errorf("parseQuantity(%q) = %q, %v, want %q", in, have, ok, want)
		}
	}
	for _, in := range []string{"5d", "5x", "5sm", "5hs", "01s", "1.s", "1.2.3"} {
		if have, ok := parseQuantity(in); ok {
			t.Errorf("parseQuantity(%q) = %q", in, have)
		}
	}
}
