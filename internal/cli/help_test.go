package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
)

// testProgram is poll without surroundings.
func testProgram() *argv.Program {
	streams, _, _ := term.Buffers("")
	return World{Streams: streams, Lookup: func(string) (string, bool) { return "", false }}.program()
}

// A subcommand has the name by which it is found.
func TestSubcommands(t *testing.T) {
	t.Parallel()
	p := testProgram()
	for i, c := range p.Commands() {
		if c.Name != p.Names()[i] {
			t.Errorf("the name %s leads to %s", p.Names()[i], c.Name)
		}
	}
}

// Help is read on terminals of 80 columns.
func TestHelp_width(t *testing.T) {
	t.Parallel()
	p := testProgram()
	for _, c := range append(p.Commands(), p.Main) {
		for line := range strings.Lines(p.Help(c)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("help %s: %d columns: %s", c.Name, n, line)
			}
		}
	}
}

// Every flag that is shown says what it does, and each of the table's names
// leads to one flag only.
func TestFlags(t *testing.T) {
	t.Parallel()
	p := testProgram()
	for _, c := range append(p.Commands(), p.Main) {
		seen := map[string]bool{}
		for _, f := range c.Flags {
			if f.Usage == "" && !f.Hidden {
				t.Errorf("poll %s --%s is not explained", c.Name, f.Name)
			}
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if seen[name] {
					t.Errorf("poll %s has %s twice", c.Name, name)
				}
				seen[name] = true
			}
		}
	}
}

// docs/flags.md has every flag and nothing else, README.md every subcommand.
func TestReadme_complete(t *testing.T) {
	t.Parallel()
	table, readme := page(t, "docs/flags.md"), page(t, "README.md")
	known := waitFlags()
	for _, f := range known {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			continue
		}
		spelled := "--" + f.Name
		for _, alias := range f.Aliases {
			spelled += "|-" + alias
		}
		if !regexp.MustCompile("`(" + spelled + ")[` ]").MatchString(table) {
			t.Errorf("the table has no --%s", f.Name)
		}
	}
	for _, word := range regexp.MustCompile("`--([a-z0-9-]+)").FindAllStringSubmatch(table, -1) {
		if known.Lookup(word[1]) == nil {
			t.Errorf("the table has --%s, which is no flag", word[1])
		}
	}
	for _, name := range testProgram().Names() {
		if !regexp.MustCompile("`(poll )?" + name + "[` ]").MatchString(readme) {
			t.Errorf("README.md has no %s", name)
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
