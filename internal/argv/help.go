package argv

import (
	"fmt"
	"slices"
	"strings"
)

// A Completion lists the shell completion candidates for the argument at the cursor.
type Completion struct {
	Kind CompletionKind
	// Start is the number of bytes at the start of the argument that completion does not replace: 9 for
	// "--cacert=ca", the length of "--cacert=". If Kind is OfferRest, Start is instead the number of arguments
	// before the program whose arguments are completed.
	Start int
	Words []string // the candidates; a candidate may be followed by a tab and its description
}

// A CompletionKind is the kind of values that complete the argument.
type CompletionKind string

// The kinds of completion. The shells' completion scripts compare with these strings.
const (
	OfferWords    CompletionKind = "words"    // only the candidates in Words
	OfferFiles    CompletionKind = "files"    // file names
	OfferCommands CompletionKind = "commands" // the candidates in Words, and the names of programs
	OfferRest     CompletionKind = "rest"     // the completions that the shell has for the program on the command line
)

// Text formats c for the completion scripts. The first line holds Kind and Start. Each further line holds a
// candidate, a tab and the candidate's description, which may be empty.
func (c Completion) Text() string {
	text := fmt.Sprintf("%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		word, about, _ := strings.Cut(w, "\t")
		text += word + "\t" + about + "\n"
	}
	return text
}

// Complete returns the completion of the last element of words, the argument at the cursor. words holds the
// arguments of an unfinished command line, without the program's name. words must have at least one element, which
// may be "". Complete ignores errors in the earlier arguments.
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
			c.Kind = OfferWords // a list of all programs would bury the subcommands
		}
	}
	c.Words = slices.DeleteFunc(slices.Clone(c.Words), func(w string) bool { return !strings.HasPrefix(w, current[c.Start:]) })
	return c
}

// offer returns the completion of current, the argument that follows the arguments parsed into l. It does not
// filter the candidates by the prefix current.
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

// remaining returns the flags that the command line may still add, with their descriptions. It skips hidden flags,
// and flags that are on the line already and cannot be repeated.
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

// values returns the completion of the flag's value. current is the argument at the cursor, in which the value
// starts at byte offset start. In a comma-separated list, only the last element is completed.
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

// Help returns text, a subcommand's help, with its line "{flags}" replaced by the list of flags.
func (c *Command) Help(text string) string {
	return strings.Replace(text, "{flags}\n", c.Flags.Help("Flags"), 1)
}

// Synopsis returns the subcommand's name, followed by its operands.
func (c *Command) Synopsis() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// Row returns the subcommand's line in the list of subcommands.
func (c *Command) Row() string { return fmt.Sprintf("  %-25s %s\n", c.Synopsis(), c.Summary) }

// Help returns the lines of all flags that are not hidden, in table order. A heading precedes each group of flags.
// other is the heading for flags without a Group.
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

// names returns the flag's short names, followed by its long name, all with their dashes. It skips long aliases.
func (f *Flag) names() []string {
	var names []string
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			names = append(names, "-"+alias)
		}
	}
	return append(names, "--"+f.Name)
}

// Row returns the flag's line in the help text.
func (f *Flag) Row() string { return fmt.Sprintf("  %-24s %s\n", f.Form(), f.explained()) }

// Form returns the flag's names and placeholder as help shows them, such as "-X, --request METHOD".
func (f *Flag) Form() string { return strings.TrimSpace(strings.Join(f.names(), ", ") + " " + f.Value) }

// explained returns the flag's Usage, followed by the default value in brackets if the flag has a default.
func (f *Flag) explained() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Default + "]"
}

// Sentences returns the flag's description for the manual: Usage as a full sentence, the valid values unless Usage
// lists them, More, and the default value. Each part starts on a new line.
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
