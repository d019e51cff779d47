package cli

import (
	"testing"
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
