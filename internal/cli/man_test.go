package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
)

func TestManPage_isComplete(t *testing.T) {
	t.Parallel()
	p := testProgram()
	page := manPage(p)
	wanted := []string{}
	for _, f := range p.Main.Flags {
		if !f.Hidden && f.Name != "help" {
			wanted = append(wanted, `\fB`+argv.Roff("--"+f.Name)+`\fR`)
		}
	}
	for _, c := range p.Commands() {
		wanted = append(wanted, ".SS poll "+argv.Roff(c.Name))
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
	table := waitFlags()
	plain := strings.ReplaceAll(manTemplate, `\-`, "-")
	for _, match := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(plain, -1) {
		if table.Lookup(match[1]) == nil {
			t.Errorf("the page speaks of --%s, which is no flag", match[1])
		}
	}
	for name := range manMore() {
		if table.Lookup(name) == nil {
			t.Errorf("the page explains --%s, which is no flag", name)
		}
	}
}
