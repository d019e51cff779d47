package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/ui/term"
)

// testApp returns an app without arguments and environment variables.
func testApp() app {
	streams, _, _ := term.Buffers("")
	return newApp(Process{Streams: streams, Lookup: func(string) (string, bool) { return "", false }})
}

// The help fits on terminals with 80 columns, and the short help on half a screen.
func TestHelp_width(t *testing.T) {
	t.Parallel()
	short := shortHelp()
	if n := strings.Count(short, "\n"); n > 40 {
		t.Errorf("the short help has %d lines", n)
	}
	texts := map[string]string{"": short, "all": testApp().subcommands().fullHelp()}
	for _, c := range testApp().subcommands().commands() {
		texts[c.Name] = c.Help(helpText(c.Name))
	}
	for name, text := range texts {
		if text == "" {
			t.Errorf("poll %s has no help page", name)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 || name == "" && n > 80 {
				t.Errorf("help %s: %d columns: %s", name, n, line)
			}
		}
	}
}

// The short help contains each flag of the poll commands in README.md. It also describes the interval and the
// timeout.
func TestHelp_readme(t *testing.T) {
	t.Parallel()
	short, table, shown := shortHelp(), read.WaitFlags(), 0
	for line := range strings.Lines(page(t, "README.md")) {
		ofPoll, _, _ := strings.Cut(line, " -- ") // the arguments after -- belong to another program
		for _, found := range regexp.MustCompile("(?:^|[\\s`])--?([A-Za-z][a-z0-9-]*)").FindAllStringSubmatch(ofPoll, -1) {
			f := table.Lookup(found[1])
			if f == nil || f.Hidden {
				continue // a flag of another program
			}
			if shown++; !strings.Contains(short, f.Row()) {
				t.Errorf("README.md shows %s, and the short help does not have it", found[0])
			}
		}
	}
	if shown < 30 {
		t.Errorf("README.md shows %d flags", shown)
	}
	for _, text := range []string{"0.1 s", "20 s", "10 minutes"} {
		if !strings.Contains(short, text) {
			t.Errorf("the short help does not say %q", text)
		}
	}
}

// Every visible flag has a description, and every name leads to one flag only.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range append(testApp().subcommands().commands(), read.New().Line.Command) {
		seen := map[string]bool{}
		for _, f := range c.Flags {
			if !regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`).MatchString(f.Variable()) {
				t.Errorf("no shell can set the variable %s", f.Variable())
			}
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

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
