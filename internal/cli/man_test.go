package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestManPage_isComplete(t *testing.T) {
	t.Parallel()
	page := manPage()
	wanted := []string{}
	for _, f := range mainFlags() {
		if !f.hidden && f.name != "help" {
			wanted = append(wanted, f.roff())
		}
	}
	for _, c := range subcommands() {
		wanted = append(wanted, ".SS poll "+roff(c.name))
	}
	for _, code := range []ExitCode{
		ExitSuccess, ExitError, ExitUsage, ExitAttempts, ExitThrottled,
		ExitTimeout, ExitInternal, ExitNotExecutable, ExitNotFound,
	} {
		wanted = append(wanted, fmt.Sprintf(".B %d\n", code))
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in the page", want)
		}
	}
	if strings.Contains(page, `.\" @`) {
		t.Error("a part of the template was not filled in")
	}
}

// TestManPage_namesFlags looks for flags that are spoken of and do not exist.
func TestManPage_namesFlags(t *testing.T) {
	t.Parallel()
	table := mainFlags()
	plain := strings.ReplaceAll(manTemplate, `\-`, "-")
	for _, match := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(plain, -1) {
		if table.lookup(match[1]) == nil {
			t.Errorf("the page speaks of --%s, which is no flag", match[1])
		}
	}
	for name := range manMore() {
		if table.lookup(name) == nil {
			t.Errorf("the page explains --%s, which is no flag", name)
		}
	}
}

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
		if have := roff(test.text); have != test.want {
			t.Errorf("%q: have %q, want %q", test.text, have, test.want)
		}
	}
}
