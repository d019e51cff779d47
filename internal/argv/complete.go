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
	Words []Candidate
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

// A Candidate is a possible argument with its meaning.
type Candidate struct{ Word, About string }

// Candidates returns words as candidates without a meaning.
func Candidates(words ...string) []Candidate {
	var list []Candidate
	for _, word := range words {
		list = append(list, Candidate{Word: word})
	}
	return list
}

// Text returns c in the format that the completion scripts read. The first line has the kind and the start. Each
// further line has a candidate, a tab and its meaning.
func (c Completion) Text() string {
	text := fmt.Sprintf("%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		text += w.Word + "\t" + w.About + "\n"
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
			c.Words = append(c.Words, Candidate{s.Name, s.Summary})
		}
		if current == "" {
			c.Kind = OfferWords // many programs would hide the subcommands
		}
	}
	c.Words = slices.DeleteFunc(c.Words, func(w Candidate) bool { return !strings.HasPrefix(w.Word, current[c.Start:]) })
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
func (l *Line) remaining() []Candidate {
	var list []Candidate
	for _, f := range l.Flags {
		if f.Hidden || !f.Many && l.HasTyped(f.Name) {
			continue
		}
		for _, name := range slices.Backward(f.names()) {
			list = append(list, Candidate{name, f.explained()})
		}
	}
	return list
}

// values returns the completion of the value of f. current is the argument at the cursor, and start is the
// offset of the value in current.
func (f *Flag) values(current string, start int) Completion {
	value := current[start:]
	c := Completion{Kind: OfferWords, Start: start, Words: Candidates(f.Words...)}
	switch {
	case f.IsSwitch():
		c.Words = Candidates("true", "false")
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
