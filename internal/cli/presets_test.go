package cli

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestFillKeepsExpressions(t *testing.T) {
	t.Parallel()
	for _, p := range status.Presets() {
		for _, rule := range p.Rules {
			filled := fill(rule.Expr, "  ", "    ")
			if _, err := expr.Compile(filled); err != nil {
				t.Errorf("%s: %v in\n%s", p.Name, err, filled)
			}
			have, want := strings.Join(strings.Fields(filled), " "), strings.Join(strings.Fields(rule.Expr), " ")
			if have != want {
				t.Errorf("%s: have %s\nwant %s", p.Name, have, want)
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90)
	tests := []struct{ name, text, want string }{
		{"short", "a b", "> a b\n"},
		{"nothing", "", "> \n"},
		{"at the edge", strings.Repeat("a ", 39) + "b", "> " + strings.Repeat("a ", 38) + "a\n  b\n"},
		{"too long a word", "a " + long + " b", "> a\n  " + long + "\n  b\n"},
		{"a text of the language", `a == "` + strings.Repeat("x ", 40) + `" b`, "> a ==\n  \"" + strings.Repeat("x ", 40) + "\"\n  b\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if have := fill(test.text, "> ", "  "); have != test.want {
				t.Errorf("have %q\nwant %q", have, test.want)
			}
		})
	}
}
