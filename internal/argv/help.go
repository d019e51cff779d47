package argv

import (
	"fmt"
	"strings"
)

// The column widths of help: of the flags, and of the subcommands in their
// list.
const (
	flagWidth    = 24
	commandWidth = 25
)

// Help returns the help text of a subcommand.
func (c *Command) Help() string {
	var b strings.Builder
	b.WriteString(c.About + "\n\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "  %s\n", e.Line)
		if e.About != "" {
			fmt.Fprintf(&b, "      %s\n", e.About)
		}
	}
	usage := c.Usage
	if usage == nil {
		usage = []string{strings.TrimSpace("poll " + c.Name + " [flags] " + c.Operands)}
	}
	fmt.Fprintf(&b, "\nUsage:\n  %s\n", strings.Join(usage, "\n  "))
	b.WriteString(c.Flags.Help("Flags"))
	if c.After != "" {
		fmt.Fprintf(&b, "\n%s\n", c.After)
	}
	return b.String()
}

// Synopsis returns the subcommand as it is typed.
func (c *Command) Synopsis() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// Row returns the line of the list of subcommands.
func (c *Command) Row() string { return Row(c.Synopsis(), c.Summary) }

// Row returns a line of a list, with its explanation.
func Row(name, about string) string { return fmt.Sprintf("  %-*s %s\n", commandWidth, name, about) }

// Help returns the flags under their headings, in the order of the table; those without one
// come under other.
func (fs Flags) Help(other string) string {
	var b strings.Builder
	last := ""
	for _, f := range fs {
		if f.Hidden {
			continue
		}
		heading := f.Group
		if heading == "" {
			heading = other
		}
		if heading != last {
			last = heading
			fmt.Fprintf(&b, "\n%s:\n", heading)
		}
		b.WriteString(f.Row())
	}
	return b.String()
}

// Row returns the line of the help.
func (f *Flag) Row() string { return fmt.Sprintf("  %-*s %s\n", flagWidth, f.Form(), f.Explained()) }

// Form returns the flag as it is typed: "-X, --request METHOD".
func (f *Flag) Form() string { return strings.TrimSpace(strings.Join(f.Names(), ", ") + " " + f.Value) }

// Explained returns the flag's meaning, with its default.
func (f *Flag) Explained() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Default + "]"
}

// Sentences explains a flag in whole sentences, for the manual.
func (f *Flag) Sentences() string {
	text := sentence(f.Usage)
	if f.Words != nil {
		text += "\nOne of " + strings.Join(f.Words, ", ") + "."
	}
	if f.More != "" {
		text += "\n" + f.More
	}
	if f.Default != "" {
		text += "\nDefault: " + f.Default + "."
	}
	return text
}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(text string) string {
	if word, _, _ := strings.Cut(text, " "); word != strings.ToUpper(word) || len(word) == 1 {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
}
