package argv

import (
	"fmt"
	"slices"
	"strings"
)

// A Completion is what may stand where the cursor is.
type Completion struct {
	Kind CompletionKind
	// Start is how much of the word stays: "--cacert=" of --cacert=ca. For
	// OfferRest it is the number of words before the command.
	Start int
	Words []Candidate
}

// A CompletionKind says what is offered.
type CompletionKind string

// The kinds of completion. The scripts for the shells know them by name.
const (
	OfferWords    CompletionKind = "words"    // these words
	OfferFiles    CompletionKind = "files"    // names of files
	OfferCommands CompletionKind = "commands" // these words and programs
	OfferRest     CompletionKind = "rest"     // what completes another command's words
)

// A Candidate is a word, and what it means.
type Candidate struct{ Word, About string }

// Candidates makes candidates of words that explain themselves.
func Candidates(words ...string) []Candidate {
	list := make([]Candidate, len(words))
	for i, word := range words {
		list[i].Word = word
	}
	return list
}

// Text is what the scripts read: the kind and the start, and a word a line,
// behind a tab what it means.
func (c Completion) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", c.Kind, c.Start)
	for _, w := range c.Words {
		fmt.Fprintf(&b, "%s\t%s\n", w.Word, w.About)
	}
	return b.String()
}

// Complete says what the last of words may become. They are what stands behind
// the program's name on a command line that is being typed.
func (p *Program) Complete(words []string) Completion {
	typed, current := words[:len(words)-1], words[len(words)-1]
	w := walk{program: p, table: p.Main.Flags}
	for i, word := range typed {
		if w.step(word) {
			return Completion{Kind: OfferRest, Start: i}
		}
	}
	return w.offer(current).beginningWith(current)
}

// beginningWith leaves the words that continue what was typed.
func (c Completion) beginningWith(current string) Completion {
	c.Words = slices.DeleteFunc(c.Words, func(w Candidate) bool {
		return !strings.HasPrefix(w.Word, current[c.Start:])
	})
	return c
}

// A walk reads the words before the cursor as [split] does, but takes
// no offence at what is wrong or not finished.
type walk struct {
	program   *Program
	table     Flags
	command   *Command // nil in the main command
	waiting   *Flag    // the next word is its value
	seen      []string // flags
	operands  []string
	onlyWords bool // behind "--"
}

// step reads a word. It reports whether a command of its own begins there.
func (w *walk) step(word string) bool {
	switch {
	case w.waiting != nil:
		w.waiting = nil
	case word == "--" && !w.onlyWords:
		w.onlyWords = true
	case isFlag(word) && !w.onlyWords:
		w.flag(word)
	case w.command != nil || w.program.IsOperand(word):
		w.operands = append(w.operands, word)
	case len(w.operands) > 0:
		// One operand too many.
	case !w.onlyWords && len(w.seen) == 0 && slices.Contains(w.program.Names(), word):
		w.command = w.program.find(word)
		w.table = w.command.Flags
	default:
		return true
	}
	return false
}

// flag reads a flag, and whether the next word is its value.
func (w *walk) flag(word string) {
	f, glued := w.lookup(word)
	if f == nil {
		return
	}
	w.seen = append(w.seen, f.Name)
	if !f.IsSwitch() && !glued {
		w.waiting = f
	}
}

// lookup finds the last flag of a word such as --until, --base=1s, -kX or
// -d@file, and whether its value stands in the word, too.
func (w *walk) lookup(word string) (f *Flag, glued bool) {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, _, glued := strings.Cut(long, "=")
		return w.table.Lookup(name), glued
	}
	for i := 1; i < len(word); i++ {
		f = w.table.Lookup(word[i : i+1])
		if f == nil || !f.IsSwitch() {
			return f, i+1 < len(word)
		}
	}
	return f, false
}

// offer says what the word at the cursor may be.
func (w *walk) offer(current string) Completion {
	switch {
	case w.waiting != nil:
		return w.waiting.values(current, 0)
	case w.onlyWords || !strings.HasPrefix(current, "-"):
		return w.operand(current)
	}
	f, glued := w.lookup(current)
	if f == nil || !glued {
		return Completion{Kind: OfferWords, Words: w.flags(current)}
	}
	if start := strings.IndexByte(current, '='); strings.HasPrefix(current, "--") {
		return f.values(current, start+1)
	}
	letter := slices.IndexFunc([]byte(current), func(c byte) bool { return f == w.table.Lookup(string(c)) })
	return f.values(current, letter+1)
}

// flags are those that may still be given, the short ones where the word is not
// a long one yet.
func (w *walk) flags(current string) []Candidate {
	var list []Candidate
	for i := range w.table {
		f := &w.table[i]
		if f.Hidden || !f.Many && slices.Contains(w.seen, f.Name) {
			continue
		}
		list = append(list, Candidate{"--" + f.Name, f.explained()})
		for _, alias := range f.Aliases {
			if len(alias) == 1 && !strings.HasPrefix(current, "--") {
				list = append(list, Candidate{"-" + alias, f.explained()})
			}
		}
	}
	return list
}

// values are what a flag may be set to; start is where its value begins in the
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

// operand says what an operand may be.
func (w *walk) operand(current string) Completion {
	switch {
	case w.command != nil && w.command.Arguments != nil:
		return w.command.Arguments(w.operands)
	case w.command != nil || len(w.operands) > 0:
		return Completion{Kind: OfferWords}
	case w.onlyWords || len(w.seen) > 0:
		return Completion{Kind: OfferCommands}
	}
	c := Completion{Kind: OfferCommands, Words: w.program.OfferCommands()}
	if current == "" {
		c.Kind = OfferWords // a thousand programs would hide them
	}
	return c
}

// OfferCommands lists the subcommands.
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
