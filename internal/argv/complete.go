package argv

import (
	"fmt"
	"slices"
	"strings"
)

// A Completion lists candidates for the word at the cursor.
type Completion struct {
	Kind CompletionKind
	// Start is how much of the word stays: "--cacert=" of --cacert=ca. For
	// OfferRest it is the number of words before the command.
	Start int
	Words []Candidate
}

type CompletionKind string

// The kinds of completion. The scripts for the shells know them by name.
const (
	OfferWords    CompletionKind = "words"    // these words
	OfferFiles    CompletionKind = "files"    // names of files
	OfferCommands CompletionKind = "commands" // these words and programs
	OfferRest     CompletionKind = "rest"     // completion of another command's words
)

// A Candidate is a word and its meaning.
type Candidate struct{ Word, About string }

// Candidates makes candidates of self-explanatory words.
func Candidates(words ...string) []Candidate {
	var list []Candidate
	for _, word := range words {
		list = append(list, Candidate{Word: word})
	}
	return list
}

// Text is the format that the scripts read: the kind and the start, then one
// word per line, with its meaning after a tab.
func (c Completion) Text() string {
	text := fmt.Sprintf("%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		text += w.Word + "\t" + w.About + "\n"
	}
	return text
}

// Complete returns what the last of words may become. words are what comes after the program's
// name on a command line being typed, of which wrong ones are passed over.
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
			c.Kind = OfferWords // a thousand programs would hide them
		}
	}
	c.Words = slices.DeleteFunc(c.Words, func(w Candidate) bool { return !strings.HasPrefix(w.Word, current[c.Start:]) })
	return c
}

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

// remaining returns the flags that may still be given.
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

// values returns the values for a flag; start is where its value begins in the
// word.
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
