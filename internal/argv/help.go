package argv

import (
	"fmt"
	"slices"
	"strings"
)

// A Completion lists the candidates for the argument at the cursor.
type Completion struct {
	Kind CompletionKind
	// Start is the number of bytes of the argument that stay, such as the length of "--cacert=" in --cacert=ca.
	// For OfferRest, Start is the number of arguments before the command.
	Start int
	Words []string // the candidates, each with a tab and its meaning, if it has one
}

// A CompletionKind is the kind of values that may follow.
type CompletionKind string

// The kinds of completion. The completion scripts of the shells contain these names.
const (
	OfferWords    CompletionKind = "words"    // the candidates in Words
	OfferFiles    CompletionKind = "files"    // names of files
	OfferCommands CompletionKind = "commands" // the candidates in Words, and programs
	OfferRest     CompletionKind = "rest"     // the completion of another command
)

// Text returns c in the format that the completion scripts read. The first line has the kind and the start. Each
// further line has a candidate, a tab and its meaning.
func (c Completion) Text() string {
	text := fmt.Sprintf("%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		word, about, _ := strings.Cut(w, "\t")
		text += word + "\t" + about + "\n"
	}
	return text
}

// Complete returns the completion of the last of words. words are the arguments after the name of the program on
// an unfinished command line. There is at least one argument, which may be empty. Wrong arguments before the
// last are ignored.
func Complete(main *Command, subcommands []*Command, words []string) Completion {
	typed, current, command := words[:len(words)-1], words[len(words)-1], main
	for _, c := range subcommands {
		if len(typed) > 0 && typed[0] == c.Name {
			typed, command = typed[1:], c
			break
		}
	}
	l := NewLine(command)
	l.Parse(typed)
	if command == main && len(l.Rest) > 0 && !HasScheme(l.Rest[0]) {
		return Completion{Kind: OfferRest, Start: len(words) - 1 - len(l.Rest)}
	}
	c := l.offer(current)
	if c.Kind == OfferCommands && len(typed) == 0 {
		for _, s := range subcommands {
			c.Words = append(c.Words, s.Name+"\t"+s.Summary)
		}
		if current == "" {
			c.Kind = OfferWords // many programs would hide the subcommands
		}
	}
	c.Words = slices.DeleteFunc(slices.Clone(c.Words), func(w string) bool { return !strings.HasPrefix(w, current[c.Start:]) })
	return c
}

// offer returns the completion of current, the argument after the arguments of l. Its candidates need not match
// current.
func (l *Line) offer(current string) Completion {
	c, operands := l.Command, len(l.Operands)+len(l.Rest)
	switch {
	case l.waiting != nil:
		return l.waiting.values(current, 0)
	case !l.Dashes && strings.HasPrefix(current, "-"):
		name, _, hasValue := strings.Cut(current, "=")
		if f := c.Flags.Lookup(strings.TrimPrefix(name, "--")); hasValue && f != nil {
			return f.values(current, len(name)+1)
		}
		return Completion{Kind: OfferWords, Words: l.remaining()}
	case c.Name == "" && (len(l.Operands) == 0 || l.Dashes && len(l.Rest) == 0):
		return Completion{Kind: OfferCommands}
	case operands == 0 && c.Offers != nil:
		return Completion{Kind: OfferWords, Words: c.Offers()}
	case operands > 0 && strings.Contains(c.Operands, "FILE"):
		return Completion{Kind: OfferFiles}
	}
	return Completion{Kind: OfferWords}
}

// remaining returns the flags that may still follow. It leaves out hidden flags, and flags that were typed and
// cannot be repeated.
func (l *Line) remaining() (list []string) {
	for _, f := range l.Flags {
		if f.Hidden || !f.Many && l.HasTyped(f.Name) {
			continue
		}
		for _, name := range slices.Backward(f.names()) {
			list = append(list, name+"\t"+f.explained())
		}
	}
	return list
}

// values returns the completion of the value of f. current is the argument at the cursor, and start is the
// offset of the value in current.
func (f *Flag) values(current string, start int) Completion {
	value := current[start:]
	c := Completion{Kind: OfferWords, Start: start, Words: f.Words}
	switch {
	case f.IsSwitch():
		c.Words = []string{"true", "false"}
	case f.FromFile && strings.HasPrefix(value, "@"):
		c.Kind, c.Start = OfferFiles, start+1
	case f.Value == "FILE" || f.Value == "PATH" || f.Value == "DIR":
		c.Kind = OfferFiles
	case f.Offers != nil:
		c.Words = f.Offers()
	}
	if f.Value == "LIST" {
		c.Start += strings.LastIndexByte(value, ',') + 1
	}
	return c
}

// Help returns text, the help of a subcommand, after replacing its line {flags} by the flags.
func (c *Command) Help(text string) string {
	return strings.Replace(text, "{flags}\n", c.Flags.Help("Flags"), 1)
}

// Synopsis returns the name and the operands of the subcommand.
func (c *Command) Synopsis() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// Row returns the line for the subcommand in the list of subcommands.
func (c *Command) Row() string { return fmt.Sprintf("  %-25s %s\n", c.Synopsis(), c.Summary) }

// Help returns the flags under their headings, in the order of the table. Flags without a heading have the
// heading other. Hidden flags are left out.
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

// names returns the short names of the flag and its long name, with their dashes. Long aliases are left out.
func (f *Flag) names() []string {
	var names []string
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			names = append(names, "-"+alias)
		}
	}
	return append(names, "--"+f.Name)
}

// Row returns the line for the flag in help.
func (f *Flag) Row() string { return fmt.Sprintf("  %-24s %s\n", f.Form(), f.explained()) }

// Form returns the names and the placeholder of the flag: "-X, --request METHOD".
func (f *Flag) Form() string { return strings.TrimSpace(strings.Join(f.names(), ", ") + " " + f.Value) }

// explained returns the help text of the flag, with its default in brackets.
func (f *Flag) explained() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Default + "]"
}

// Sentences returns the description of the flag for the manual, in whole sentences. Each line has one sentence
// or More.
func (f *Flag) Sentences() string {
	text := strings.TrimSuffix(strings.ToUpper(f.Usage[:1])+f.Usage[1:], ".") + "."
	if n := len(f.Words); n > 0 && !strings.Contains(f.Usage, f.Words[n-1]) {
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
