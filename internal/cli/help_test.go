package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Help is read on terminals of 80 columns.
func TestHelp_width(t *testing.T) {
	t.Parallel()
	for _, c := range append(subcommands(), mainCommand()) {
		for line := range strings.Lines(helpText(c)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("help %s: %d columns: %s", c.name, n, line)
			}
		}
	}
}

// Every flag that is shown says what it does, and each of the table's names
// leads to one flag only.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range append(subcommands(), mainCommand()) {
		seen := map[string]bool{}
		for _, f := range c.flags {
			if f.usage == "" && !f.hidden {
				t.Errorf("poll %s --%s is not explained", c.name, f.name)
			}
			for _, name := range append([]string{f.name}, f.aliases...) {
				if seen[name] {
					t.Errorf("poll %s has %s twice", c.name, name)
				}
				seen[name] = true
			}
		}
	}
}
