package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/httpscript"
)

// flagsPage returns docs/flags.md.
func flagsPage() string {
	page := "# Flags\n\nAll flags of a wait. `poll help FLAG` has the same text, and every subcommand has its own `--help`.\n" +
		"Times need a unit: `500ms`, `30s`, `1h30m`. Some flags have a [variable](scripts.md#variables).\n" +
		"\n| flag | default | meaning |\n|---|---|---|\n"
	group, cell := "", strings.NewReplacer("|", `\|`, "\n", " ")
	for _, f := range read.WithManual(read.WaitFlags()) {
		if f.Hidden {
			continue
		}
		if f.Group != group {
			group = f.Group
			page += "| **" + group + "** | | |\n"
		}
		value := f.Default
		f.Default = ""
		page += fmt.Sprintf("| `%s` | %s | %s |\n", cell.Replace(f.Form()), cell.Replace(value), cell.Replace(f.Sentences()))
	}
	return page
}

// docs/flags.md is generated: go test ./internal/cli -run TestFlagsPage -update writes it.
func TestFlagsPage(t *testing.T) {
	have := flagsPage()
	if *update {
		check(t, os.WriteFile(filepath.Join("..", "..", "docs", "flags.md"), []byte(have), 0o644))
	}
	if have != page(t, "docs/flags.md") {
		t.Error("docs/flags.md is not what the table of flags says: run the test with -update")
	}
}

// manPage returns the manual page with its generated parts replaced.
func manPage(page string) string {
	var commands strings.Builder
	for _, c := range testApp().subcommands().commands() {
		about, _, _ := strings.Cut(helpText(c.Name), "\n\n  ")
		fmt.Fprintf(&commands, ".SS poll %s\n%s\n", roff(c.Synopsis()), roff(about))
		commands.WriteString(manFlags(c.Flags))
	}
	return generated(generated(page, "options", manFlags(read.WithManual(read.WaitFlags()))), "subcommands", commands.String())
}

// generated replaces the part of a page between the comments "name" and "end".
func generated(page, name, text string) string {
	begin, end := ".\\\" @"+name+"\n", ".\\\" @end\n"
	before, rest, _ := strings.Cut(page, begin)
	_, after, _ := strings.Cut(rest, end)
	return before + begin + text + end + after
}

// manFlags returns the flags for a manual page, under their headings if they have any.
func manFlags(flags argv.Flags) string {
	var b strings.Builder
	group := ""
	for _, f := range flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, ".SS %s\n", roff(group))
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(f.Form()), roff(f.Sentences()))
	}
	return b.String()
}

// roff escapes the characters that roff interprets or replaces by typographic characters, which shells do not
// understand.
func roff(text string) string {
	text = strings.NewReplacer(
		`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`,
	).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// Two parts of man/poll.1 are generated: go test ./internal/cli -run TestManPage -update writes them.
func TestManPage(t *testing.T) {
	text := page(t, "internal/cli/man/poll.1")
	have := manPage(text)
	if *update {
		check(t, os.WriteFile(filepath.Join("man", "poll.1"), []byte(have), 0o644))
	}
	if have != text || !strings.Contains(have, "\\fB\\-\\-until EXPR\\fR") {
		t.Error("man/poll.1 is not what the table of flags says: run the test with -update")
	}
	byHand := generated(generated(text, "options", ""), "subcommands", "")
	table := read.WaitFlags()
	for _, match := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(strings.ReplaceAll(byHand, `\-`, "-"), -1) {
		if table.Lookup(match[1]) == nil {
			t.Errorf("the page speaks of --%s, which is no flag", match[1])
		}
	}
}

func completed(words []string) argv.Completion {
	return argv.Complete(read.New().Line.Command, testApp().subcommands().commands(), words)
}

func TestComplete(t *testing.T) {
	tests := []struct {
		name  string
		words []string // the last is being typed
		want  string   // kind, start and candidates
	}{
		{"the first word", []string{""}, "words 0 " + strings.Join(testApp().subcommands().names(), " ")},
		{"a subcommand, or a program", []string{"comp"}, "commands 0 completion"},
		{"nothing but a program behind a flag", []string{"--strict", "comp"}, "commands 0"},
		{"a long flag", []string{"--str"}, "words 0 --strict --stream --strategy"},
		{"not a hidden flag", []string{"--show-"}, "words 0 --show-stderr"},
		{"a flag only once", []string{"--strict", "--str"}, "words 0 --stream --strategy"},
		{"but one that may be repeated", []string{"--until", ".a", "--unt"}, "words 0 --until"},
		{"a value", []string{"--jitter", "e"}, "words 0 equal"},
		{"a value in the word", []string{"--jitter=e"}, "words 9 equal"},
		{"a value behind other short flags", []string{"-kX", "P"}, "words 0 POST PUT PATCH"},
		{"a value behind a value that looks like a flag", []string{"--until", "--jitter", "--color", "al"}, "words 0 always"},
		{"a preset", []string{"--preset", "replic"}, "words 0 replicate"},
		{"what is not known", []string{"--timeout", "5"}, "words 0"},
		{"a file", []string{"--cacert", "a"}, "files 0"},
		{"a file behind @", []string{"-d", "@a"}, "files 1"},
		{"no file without @", []string{"-d", "a"}, "words 0"},
		{"a flag behind a URL", []string{"http://localhost:1/", "--imm"}, "words 0 --immediate"},
		{"a command's words", []string{"--timeout", "1s", "kubectl", "get", "p"}, "rest 2"},
		{"a command's flags behind dashes", []string{"--", "curl", "--fa"}, "rest 1"},
		{"a program behind a URL", []string{"-q", "http://localhost:1/", "--", "cu"}, "commands 0"},
		{"a command that is named as a subcommand", []string{"--", "eval", "x"}, "rest 1"},
		{"a subcommand's flag behind operands", []string{"eval", ".a", "f", "--exi"}, "words 0 --exit"},
		{"a subcommand's operand", []string{"presets", "replic"}, "words 0 replicate"},
		{"no second one", []string{"presets", "rds", "replic"}, "words 0"},
		{"no flag behind dashes", []string{"eval", "--", ".a", "--exi"}, "files 0"},
		{"a file for eval", []string{"eval", ".a", "f"}, "files 0"},
		{"no file for an expression", []string{"eval", "."}, "words 0"},
		{"a switch's value", []string{"--json=t"}, "words 7 true"},
		{"help of a subcommand", []string{"help", "pre"}, "words 0 presets"},
		{"the first of a list", []string{"simulate", "--algorithm=ex"}, "words 12 exponential"},
		{"a shell", []string{"completion", "z"}, "words 0 zsh"},
		{"one of a list", []string{"schedule", "--compare", "fixed,li"}, "words 6 linear"},
		{"a flag that is none", []string{"--nonsense", "--nonsense=", "-€", "--stri"}, "words 0 --strict"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			head, lines, _ := strings.Cut(completed(test.words).Text(), "\n")
			have := []string{head}
			for line := range strings.Lines(lines) {
				word, _, _ := strings.Cut(line, "\t")
				have = append(have, word)
			}
			if have := strings.Join(have, " "); have != test.want {
				t.Errorf("have %s\nwant %s", have, test.want)
			}
		})
	}
}

// testApp returns a process without arguments and environment variables.
func testApp() Process {
	streams, _, _ := httpscript.Streams("")
	return NewProcess(nil, func(string) (string, bool) { return "", false }, streams)
}

// The help fits on terminals with 80 columns, and the short help on half a screen.
func TestHelp_width(t *testing.T) {
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
	text := must(os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name))))
	return string(text)
}

func TestFolded(t *testing.T) {
	page := "# Title of a page\n\nA paragraph of two\nlines, which is longer.\n\n- an item, which goes on\n  below\n- another\n\n" +
		"| a | b |\n|---|:--|\n| `x` | a \\| cell |\n\nthe last paragraph\n\n```\ncode that stays as it is\n\n```\n\n    more code\n    on two lines, as it is\n"
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


    more code
    on two lines, as it is
`
	if have := folded(page, 18); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

// A line of tabs is a blank line.
func TestFolded_tabs(t *testing.T) {
	if have, want := folded("\t\n", 18), "\n"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}
