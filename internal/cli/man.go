package cli

import (
	_ "embed" // for the page
	"fmt"
	"strings"

	"github.com/pollcli/poll/status"
)

// manTemplate is the manual page in the macros of man(7). Three comments stand
// for what is made of the tables, and what is between .EX and .EE is plain text.
//
//go:embed man/poll.1
var manTemplate string

func manCommand() *command {
	return &command{
		name:    "man",
		summary: "the manual page",
		about: "poll man writes the manual page, in the language of man(1). It says how a wait\n" +
			"works, and more of each flag and exit code than this help does.",
		examples: []example{
			{"poll man | man -l -", ""},
			{"poll man >~/.local/share/man/man1/poll.1", ""},
		},
		flags: flags{helpFlag()},
		run:   (*invocation).man,
	}
}

func (in *invocation) man() error {
	if err := in.takesNoOperand(); err != nil {
		return err
	}
	return in.writeOut(manPage())
}

// manPage fills the template in.
func manPage() string {
	var b strings.Builder
	plain := false
	for line := range strings.Lines(manTemplate) {
		switch text := strings.TrimSuffix(line, "\n"); {
		case text == `.\" @options`:
			manFlags(&b, mainFlags(), manMore())
		case text == `.\" @subcommands`:
			manSubcommands(&b)
		case text == `.\" @presets`:
			manPresets(&b)
		case text == ".EX" || text == ".EE":
			plain = text == ".EX"
			b.WriteString(line)
		case plain:
			b.WriteString(roff(text) + "\n")
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

func manSubcommands(b *strings.Builder) {
	for _, c := range subcommands() {
		fmt.Fprintf(b, ".SS poll %s\n%s\n", roff(strings.TrimSpace(c.name+" "+c.operands)), roff(c.about))
		if c.after != "" {
			fmt.Fprintf(b, ".PP\n%s\n", roff(c.after))
		}
		b.WriteString(".PP\n.in +4n\n.EX\n")
		for _, e := range c.examples {
			fmt.Fprintln(b, roff(e.line))
		}
		b.WriteString(".EE\n.in\n")
		manFlags(b, c.flags, nil)
	}
}

// manPresets lists the presets, one a line.
func manPresets(b *strings.Builder) {
	b.WriteString(".PP\n.PD 0\n")
	for _, p := range status.Presets() {
		names := append([]string{p.Name}, p.Aliases...)
		fmt.Fprintf(b, ".TP 26\n\\fB%s\\fR\n%s\n", roff(strings.Join(names, ", ")), roff(p.API))
	}
	b.WriteString(".PD\n")
}

// roff escapes what a text formatter would take as its own, and what it would
// print as typographic characters that a shell does not know.
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
