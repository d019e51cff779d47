package argv

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/words"
)

// The column widths of help: of the flags, and of the subcommands in their
// list.
const (
	flagWidth    = 24
	commandWidth = 25
)

// Help returns the help text of a command.
func (p *Program) Help(c *Command) string {
	var b strings.Builder
	b.WriteString(c.About + "\n\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "  %s\n", e.Line)
		if e.About != "" {
			fmt.Fprintf(&b, "      %s\n", e.About)
		}
	}
	usage := strings.Join(c.Usage, "\n  ")
	if usage == "" {
		usage = strings.TrimSpace(p.Name + " " + c.Name + " [flags] " + c.Operands)
	}
	fmt.Fprintf(&b, "\nUsage:\n  %s\n", usage)
	if c == p.Main {
		b.WriteString("\nOther commands:\n")
		for _, s := range p.Commands() {
			fmt.Fprintf(&b, "  %-*s %s\n", commandWidth, s.synopsis(), s.Summary)
		}
	}
	if c.Before != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Before)
	}
	c.Flags.help(&b)
	if c.After != "" {
		fmt.Fprintf(&b, "\n%s\n", c.After)
	}
	return b.String()
}

func (c *Command) synopsis() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// help writes the flags under their headings, in the order of the table.
func (fs Flags) help(b *strings.Builder) {
	last := ""
	for _, f := range fs {
		if f.Hidden || f.Rare {
			continue
		}
		if heading := cmp.Or(f.Group, "Flags"); heading != last {
			last = heading
			fmt.Fprintf(b, "\n%s:\n", heading)
		}
		fmt.Fprintf(b, "  %-*s %s\n", flagWidth, f.spelled(), f.explained())
	}
}

// spelled returns the flag as it is typed: "-X, --request METHOD".
func (f *Flag) spelled() string {
	return strings.TrimSpace(strings.Join(f.names(), ", ") + " " + f.Value)
}

func (f *Flag) explained() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Default + "]"
}

// HelpCommand returns the subcommand that shows the help of the others, of a topic or of
// a flag; example is the name of one of them.
func (p *Program) HelpCommand(example string) *Command {
	var topics strings.Builder
	for _, t := range p.Topics {
		fmt.Fprintf(&topics, "\n  %-*s %s", commandWidth, t.Name, t.Summary)
	}
	c := &Command{
		Name:     "help",
		Operands: "[NAME]",
		Summary:  "help on " + p.Name + ", one of these, a topic or a flag",
		About: fmt.Sprintf("%[1]s help shows the help of %[1]s or, with a NAME, that of a subcommand, a topic\n"+
			"or a flag.", p.Name),
		Examples:    []Example{{p.Name + " help", ""}, {p.Name + " help " + example, ""}},
		Flags:       Flags{HelpFlag()},
		MaxOperands: 1,
		Surplus:     "takes one name",
		Arguments: OfferFirst(func() []Candidate {
			list := p.OfferCommands()
			for _, t := range p.Topics {
				list = append(list, Candidate{t.Name, t.Summary})
			}
			return list
		}),
		Run: p.showHelp,
	}
	if len(p.Topics) > 0 {
		c.After = "Topics:" + topics.String()
	}
	return c
}

func (p *Program) showHelp(ctx context.Context, l *Line) error {
	if len(l.Operands) == 0 {
		return p.Write(ctx, p.Help(p.Main))
	}
	name := l.Operands[0]
	if c := p.find(name); c != nil {
		return p.Write(ctx, p.Help(c))
	}
	names := p.Names()
	for _, t := range p.Topics {
		if t.Name == name {
			return p.Write(ctx, t.Text())
		}
		names = append(names, t.Name)
	}
	if f := p.Main.Flags.Lookup(strings.TrimLeft(name, "-")); f != nil && !f.Hidden {
		return p.Write(ctx, fmt.Sprintf("  %-*s %s\n", flagWidth, f.spelled(), f.explained()))
	}
	err := Usagef("there is no subcommand, topic or flag %q", name)
	if meant := words.Nearest(name, names); meant != "" {
		return err.Hint("did you mean %s help %s?", p.Name, meant)
	}
	return err.Hint("%s help lists them", p.Name)
}

// ManCommands is the section of a manual page on the subcommands.
func (p *Program) ManCommands() string {
	var b strings.Builder
	for _, c := range p.Commands() {
		fmt.Fprintf(&b, ".SS %s %s\n%s\n", p.Name, Roff(c.synopsis()), Roff(c.About))
		if c.After != "" {
			fmt.Fprintf(&b, ".PP\n%s\n", Roff(c.After))
		}
		b.WriteString(".PP\n.in +4n\n.EX\n")
		for _, e := range c.Examples {
			fmt.Fprintln(&b, Roff(e.Line))
		}
		b.WriteString(".EE\n.in\n" + c.Flags.Man(nil))
	}
	return b.String()
}

// Man returns the flags for a manual page, under their headings if they have
// any. more maps the name of a flag to what the page says beyond the help. The
// flag for help is left out.
func (fs Flags) Man(more map[string]string) string {
	var b strings.Builder
	group := ""
	for _, f := range fs {
		if f.Hidden || f.Name == "help" {
			continue
		}
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, ".SS %s\n", Roff(group))
		}
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", f.roff(), Roff(f.sentences(more[f.Name])))
	}
	return b.String()
}

// roff returns the flag as it is typed, with its names in bold.
func (f *Flag) roff() string {
	text := `\fB` + Roff(f.names()[0]) + `\fR`
	for _, name := range f.names()[1:] {
		text += `, \fB` + Roff(name) + `\fR`
	}
	if f.Value != "" {
		text += ` \fI` + Roff(f.Value) + `\fR`
	}
	return text
}

// sentences explains a flag as the help does, but in whole sentences.
func (f *Flag) sentences(more string) string {
	text := sentence(f.Usage)
	if f.Words != nil {
		text = sentence("one of " + strings.Join(f.Words, ", "))
	}
	if more != "" {
		text += "\n" + more
	}
	if f.Default != "" {
		text += "\n" + sentence("default: "+f.Default)
	}
	return text
}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// Roff escapes what roff would interpret, and the characters that it would
// print as typographic ones, which a shell does not understand.
func Roff(text string) string {
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
