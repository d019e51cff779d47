package argv

import (
	"fmt"
	"strings"
)

// Help fills the flags of a subcommand into its help text.
func (c *Command) Help(text string) string {
	return strings.Replace(text, "{flags}\n", c.Flags.Help("Flags"), 1)
}

// UsageLine returns how the subcommand is used.
func (c *Command) UsageLine() string {
	return strings.TrimSpace("poll " + c.Name + " [flags] " + c.Operands)
}

// Synopsis returns the subcommand as it is typed.
func (c *Command) Synopsis() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// Row returns the line of the list of subcommands.
func (c *Command) Row() string { return fmt.Sprintf("  %-25s %s\n", c.Synopsis(), c.Summary) }

// Help returns the flags under their headings, in the order of the table; those without one
// come under other.
func (fs Flags) Help(other string) (text string) {
	last := ""
	for _, f := range fs {
		if f.Hidden {
			continue
		}
		if f.Group == "" {
			f.Group = other
		}
		if f.Group != last {
			last = f.Group
			text += "\n" + last + ":\n"
		}
		text += f.Row()
	}
	return text
}

// names returns the flag's names as they are typed, the short ones first.
func (f *Flag) names() []string {
	var names []string
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			names = append(names, "-"+alias)
		}
	}
	return append(names, "--"+f.Name)
}

// Row returns the line of the help.
func (f *Flag) Row() string { return fmt.Sprintf("  %-24s %s\n", f.Form(), f.explained()) }

// Form returns the flag as it is typed: "-X, --request METHOD".
func (f *Flag) Form() string { return strings.TrimSpace(strings.Join(f.names(), ", ") + " " + f.Value) }

// explained returns the flag's meaning, with its default.
func (f *Flag) explained() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Default + "]"
}

// Sentences explains a flag in whole sentences, for the manual.
func (f *Flag) Sentences() string {
	text := f.Usage
	if word, _, _ := strings.Cut(text, " "); word != strings.ToUpper(word) || len(word) == 1 {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	text = strings.TrimSuffix(text, ".") + "."
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
