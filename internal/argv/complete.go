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
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		fmt.Fprintf(&b, "%s\t%s\n", w.Word, w.About)
	}
	return b.String()
}

// Complete returns what the last of words may become. words are what comes
// after the program's name on a command line being typed; [Program.Run] reports
// errors in the words before.
func (p *Program) Complete(words []string) Completion {
	typed, current := words[:len(words)-1], words[len(words)-1]
	r := reader{program: p, command: p.Main}
	for rest := typed; len(rest) > 0; {
		start := len(typed) - len(rest)
		if rest, _ = r.read(rest); r.isProgram {
			return Completion{Kind: OfferRest, Start: start}
		}
		if len(r.Then) > 0 {
			return Completion{Kind: OfferRest, Start: start + 1}
		}
	}
	c := r.offer(current)
	c.Words = slices.DeleteFunc(c.Words, func(w Candidate) bool { return !strings.HasPrefix(w.Word, current[c.Start:]) })
	return c
}

func (r *reader) offer(current string) Completion {
	switch {
	case r.waiting != nil:
		return r.waiting.values(current, 0)
	case r.verbatim || !strings.HasPrefix(current, "-"):
		return r.operand(current)
	}
	if f, start := r.glued(current); f != nil {
		return f.values(current, start)
	}
	return Completion{Kind: OfferWords, Words: r.flagsLeft()}
}

// glued finds the flag whose value is part of the same word, as in --base=1s,
// -kX or -d@file, and where the value starts.
func (r *reader) glued(word string) (f *Flag, start int) {
	if name, _, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "--") {
		return r.command.Flags.Lookup(name[2:]), len(name) + 1
	}
	for i := 1; i+1 < len(word); i++ {
		if f = r.command.Flags.Lookup(word[i : i+1]); f == nil || !f.IsSwitch() {
			return f, i + 1
		}
	}
	return nil, 0
}

func (r *reader) flagsLeft() []Candidate {
	var list []Candidate
	for _, f := range r.command.Flags {
		if f.Hidden || !f.Many && r.has(f.Name) {
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

func (r *reader) operand(current string) Completion {
	switch {
	case r.command.Arguments != nil:
		return r.command.Arguments(r.Operands)
	case r.Then != nil:
		return Completion{Kind: OfferCommands}
	case r.command != r.program.Main || len(r.Operands) > 0:
		return Completion{Kind: OfferWords}
	case r.verbatim || len(r.seen) > 0:
		return Completion{Kind: OfferCommands}
	}
	c := Completion{Kind: OfferCommands, Words: r.program.OfferCommands()}
	if current == "" {
		c.Kind = OfferWords // a thousand programs would hide them
	}
	return c
}

func (p *Program) OfferCommands() []Candidate {
	var list []Candidate
	for _, c := range p.Commands() {
		list = append(list, Candidate{c.Name, c.Summary})
	}
	return list
}

// OfferFirst offers words for the first operand.
func OfferFirst(words func() []Candidate) func([]string) Completion {
	return func(before []string) Completion {
		if len(before) > 0 {
			return Completion{Kind: OfferWords}
		}
		return Completion{Kind: OfferWords, Words: words()}
	}
}
