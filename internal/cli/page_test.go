package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pollcli/poll/docs"
	"github.com/pollcli/poll/internal/ui/term"
)

func TestFolded(t *testing.T) {
	t.Parallel()
	page := "# Title of a page\n\nA paragraph of two\nlines, which is longer.\n\n- an item, which goes on\n  below\n- another\n\n" +
		"| a | b |\n|---|:--|\n| `x` | a \\| cell |\n\nthe last paragraph\n\n```\ncode that stays as it is\n\n```\n"
	want := `# Title of a page

A paragraph of two
lines, which is
longer.

- an item, which
  goes on below
- another

| a | b |
|---|:--|
` + "| `x` | a \\| cell |" + `

the last paragraph

code that stays as it is

`
	if have := folded(page, 18); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

// A line of tabs is a blank line.
func TestFolded_tabs(t *testing.T) {
	t.Parallel()
	if have, want := folded("\t\n", 18), "\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

// Folding keeps all words of a page. No line of a paragraph is longer than the terminal, unless the line
// cannot be broken.
func TestFolded_pages(t *testing.T) {
	t.Parallel()
	fence := regexp.MustCompile("(?m)^ *```.*$")
	words := strings.NewReplacer(" ", "", "\n", "")
	entries, _ := docs.Pages.ReadDir(".")
	for _, entry := range entries {
		page, _ := docs.Pages.ReadFile(entry.Name())
		for _, columns := range []int{30, 79} {
			text := folded(string(page), columns)
			if words.Replace(text) != words.Replace(fence.ReplaceAllString(string(page), "")) {
				t.Errorf("%s at %d columns has lost or gained text", entry.Name(), columns)
			}
			for line := range strings.Lines(text) {
				isLong := term.Width(strings.TrimSpace(line)) > columns && strings.Count(strings.TrimSpace(line), " ") > 1
				if isCode := strings.Contains(string(page), "\n"+line); isLong && !isCode {
					t.Errorf("%s at %d columns: %q", entry.Name(), columns, line)
				}
			}
		}
	}
}
