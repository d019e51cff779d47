package cli

import (
	"os"
	"path/filepath"
	"regexp"
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

// README's tables have every flag and every subcommand, and nothing else.
func TestReadme_complete(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n## Flags\n")
	table, more, foundMore := strings.Cut(table, "\n## Other commands\n")
	if !found || !foundMore {
		t.Fatal("README.md has no section Flags before one of Other commands")
	}
	known := mainFlags()
	for _, f := range known {
		if f.hidden || f.name == "help" || f.name == "version" {
			continue
		}
		spelled := "--" + f.name
		for _, alias := range f.aliases {
			spelled += "|-" + alias
		}
		if !regexp.MustCompile("`(" + spelled + ")[` ]").MatchString(table) {
			t.Errorf("the table has no --%s", f.name)
		}
	}
	for _, word := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(table, -1) {
		if known.lookup(word[1]) == nil {
			t.Errorf("the table has --%s, which is no flag", word[1])
		}
	}
	for _, name := range subcommandNames() {
		if !regexp.MustCompile("`(poll )?" + name + "[` ]").MatchString(more) {
			t.Errorf("the other commands have no %s", name)
		}
	}
}
