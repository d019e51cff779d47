package argv

import (
	"strings"
	"testing"
)

func TestRoff(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{`--until '.a=="b"'`, `\-\-until \(aq.a==\(dqb\(dq\(aq`},
		{`a\b`, `a\eb`},
		{".state\n'x", "\\&.state\n\\(aqx"},
		{"~ ^ `", `\(ti \(ha \(ga`},
	}
	for _, test := range tests {
		if have := Roff(test.text); have != test.want {
			t.Errorf("%q: have %q, want %q", test.text, have, test.want)
		}
	}
}

// A manual has no place for what every command has, and none for what is hidden.
func TestMan(t *testing.T) {
	t.Parallel()
	page := Flags{{Name: "wait", Usage: "wait so long", Default: "1s", Group: "Times"}, {Name: "old", Hidden: true}, HelpFlag()}.
		Man(map[string]string{"wait": "Not less."})
	if want := ".SS Times\n.TP\n\\fB\\-\\-wait\\fR\nWait so long.\nNot less.\nDefault: 1s.\n"; page != want {
		t.Errorf("have %q\nwant %q", page, want)
	}
	if strings.Contains(page, "help") {
		t.Error("the flag for help is in the list")
	}
}
