package cli

import (
	"fmt"
	"slices"
	"strings"
)

// A completion is what may stand where the cursor is.
type completion struct {
	kind completionKind
	// start is how much of the word stays: "--cacert=" of --cacert=ca. For
	// offerRest it is the number of words before the command.
	start int
	words []candidate
}

type completionKind string

// The kinds of completion. The scripts for the shells know them by name.
const (
	offerWords    completionKind = "words"    // these words
	offerFiles    completionKind = "files"    // names of files
	offerCommands completionKind = "commands" // these words and programs
	offerRest     completionKind = "rest"     // what completes another command's words
)

// A candidate is a word, and what it means.
type candidate struct{ word, about string }

func candidates(words ...string) []candidate {
	list := make([]candidate, len(words))
	for i, word := range words {
		list[i].word = word
	}
	return list
}

// text is what the scripts read: the kind and the start, and a word a line,
// behind a tab what it means.
func (c completion) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", c.kind, c.start)
	for _, w := range c.words {
		fmt.Fprintf(&b, "%s\t%s\n", w.word, w.about)
	}
	return b.String()
}

// complete says what the last of words may become. They are what stands behind
// poll on a command line that is being typed.
func complete(words []string) completion {
	typed, current := words[:len(words)-1], words[len(words)-1]
	w := walk{table: mainFlags()}
	for i, word := range typed {
		if w.step(word) {
			return completion{kind: offerRest, start: i}
		}
	}
	return w.offer(current).beginningWith(current)
}

// beginningWith leaves the words that continue what was typed.
func (c completion) beginningWith(current string) completion {
	c.words = slices.DeleteFunc(c.words, func(w candidate) bool {
		return !strings.HasPrefix(w.word, current[c.start:])
	})
	return c
}

// A walk reads the words before the cursor as splitMain and splitSub do, but
// takes no offence at what is wrong or not finished.
type walk struct {
	table     flags
	command   *command // nil in the main command
	waiting   *flag    // the next word is its value
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
	case w.command != nil || withScheme.MatchString(word):
		w.operands = append(w.operands, word)
	case len(w.operands) > 0:
		// One operand too many.
	case !w.onlyWords && len(w.seen) == 0 && slices.Contains(subcommandNames(), word):
		w.command = findSubcommand(word)
		w.table = w.command.flags
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
	w.seen = append(w.seen, f.name)
	if !f.isSwitch() && !glued {
		w.waiting = f
	}
}

// lookup finds the last flag of a word such as --until, --base=1s, -kX or
// -d@file, and whether its value stands in the word, too.
func (w *walk) lookup(word string) (f *flag, glued bool) {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, _, glued := strings.Cut(long, "=")
		return w.table.lookup(name), glued
	}
	for i := 1; i < len(word); i++ {
		f = w.table.lookup(word[i : i+1])
		if f == nil || !f.isSwitch() {
			return f, i+1 < len(word)
		}
	}
	return f, false
}

// offer says what the word at the cursor may be.
func (w *walk) offer(current string) completion {
	switch {
	case w.waiting != nil:
		return w.waiting.values(current, 0)
	case w.onlyWords || !strings.HasPrefix(current, "-"):
		return w.operand(current)
	}
	f, glued := w.lookup(current)
	if f == nil || !glued {
		return completion{kind: offerWords, words: w.flags(current)}
	}
	if start := strings.IndexByte(current, '='); strings.HasPrefix(current, "--") {
		return f.values(current, start+1)
	}
	letter := slices.IndexFunc([]byte(current), func(c byte) bool { return f == w.table.lookup(string(c)) })
	return f.values(current, letter+1)
}

// flags are those that may still be given, the short ones where the word is not
// a long one yet.
func (w *walk) flags(current string) []candidate {
	var list []candidate
	for i := range w.table {
		f := &w.table[i]
		if f.hidden || !f.many && slices.Contains(w.seen, f.name) {
			continue
		}
		list = append(list, candidate{"--" + f.name, f.explained()})
		for _, alias := range f.aliases {
			if len(alias) == 1 && !strings.HasPrefix(current, "--") {
				list = append(list, candidate{"-" + alias, f.explained()})
			}
		}
	}
	return list
}

// values are what a flag may be set to; start is where its value begins in the
// word.
func (f *flag) values(current string, start int) completion {
	value := current[start:]
	c := completion{kind: offerWords, start: start, words: candidates(f.words...)}
	switch {
	case f.isSwitch():
		c.words = candidates("true", "false")
	case f.fromFile && strings.HasPrefix(value, "@"):
		c.kind, c.start = offerFiles, start+1
	case f.value == "FILE" || f.value == "PATH" || f.value == "DIR":
		c.kind = offerFiles
	case f.offers != nil:
		c.words = f.offers()
	}
	if f.value == "LIST" {
		c.start += strings.LastIndexByte(value, ',') + 1
	}
	return c
}

// operand says what an operand may be.
func (w *walk) operand(current string) completion {
	switch {
	case w.command != nil && w.command.arguments != nil:
		return w.command.arguments(w.operands)
	case w.command != nil || len(w.operands) > 0:
		return completion{kind: offerWords}
	case w.onlyWords || len(w.seen) > 0:
		return completion{kind: offerCommands}
	}
	c := completion{kind: offerCommands, words: offeredSubcommands()}
	if current == "" {
		c.kind = offerWords // a thousand programs would hide them
	}
	return c
}

func offeredSubcommands() []candidate {
	var list []candidate
	for _, c := range subcommands() {
		list = append(list, candidate{c.name, c.summary})
	}
	return list
}
