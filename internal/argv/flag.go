// Package argv has the tables of flags: what a flag is called, how its value is read, where
// that goes, and what the help says. It knows nothing of the program's purpose.
package argv

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

// A Command is the main command, or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // as help shows them
	Summary  string // one line, for the list
	About    string // a paragraph, for its own help
	Examples []Example
	Usage    []string // the lines below "Usage:", if Operands is not enough
	Flags    Flags
	After    string // what its help ends with

	MaxOperands  int    // [Any] number
	Surplus      string // why no more are allowed: "takes one name"
	HasVariables bool   // variables of the environment set its flags, too
	Conflicts    []Conflict
	// Arguments lists the candidates for the next operand, given those before
	// it. It may be nil.
	Arguments func(before []string) Completion
	Run       func(context.Context, *Line) error
}

// Any is the MaxOperands of a command that takes any number of operands.
const Any = -1

// An Example is a command line with an explanation.
type Example struct{ Line, About string }

// A Constructor makes a subcommand. Building its table of flags takes time, so
// this is done only on demand.
type Constructor struct {
	Name string
	New  func() *Command
}

// A Flag is one option of a command. Reading, variables, targets files, help, completion and
// the manual all use the same table.
type Flag struct {
	Name       string   // long, without dashes
	Aliases    []string // other names; those of one letter are short
	Value      string   // what stands for the value in help; "" for a switch
	Usage      string
	More       string   // what the manual says beyond Usage
	Default    string   // in words, "" for none
	Group      string   // its heading in help
	Words      []string // the values it takes, where they can be listed
	To         *Place   // where the value goes; nil keeps it as text only
	For        Kinds    // the targets that it is about; 0 = all
	Needs      string   // a flag without which it means nothing
	Many       bool     // it may be given several times
	Brief      bool     // it stands in the short help
	Hidden     bool     // it is accepted, but not shown
	FromFile   bool     // @FILE stands for what is in the file
	MayBeEmpty bool     // an empty value means something
	Decides    bool     // a run ends by it: its variable, once it is set, must not be empty
	Secret     bool     // no error repeats its value
	WholeRun   bool     // an entry of a targets file cannot set it
	// Distinctive is true for a name that hardly any other program uses for a
	// flag, so that it is misplaced among the words of a command.
	Distinctive bool
	// Offers lists what completion offers besides Words: examples where other
	// values are possible, and lists that take time to make.
	Offers func() []Candidate

	set setting
}

// Kinds are kinds of targets, as bits. What they stand for is the program's.
type Kinds uint8

// A setting is what a flag was set to.
type setting struct {
	texts  []string
	origin string // how an error names the flag: by its variable if that was used
	rank   Rank
}

// A Rank says where a setting comes from. A higher one wins over a lower one that it
// contradicts; two of one rank must not contradict each other.
type Rank uint8

// The ranks of settings.
const (
	Unset    Rank = iota
	Variable      // of the environment
	Typed         // on the command line
	Entry         // of a targets file
)

// IsSwitch reports whether the flag takes no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

// Given reports whether the flag is set, and is no switch that is turned off.
func (f *Flag) Given() bool { return f.set.rank > Unset && !(f.IsSwitch() && f.text() == "false") }

// Rank returns where the flag's setting comes from.
func (f *Flag) Rank() Rank { return f.set.rank }

// Origin returns what an error calls the flag.
func (f *Flag) Origin() string { return cmp.Or(f.set.origin, "--"+f.Name) }

// text returns the last value, "" for none.
func (f *Flag) text() string {
	if len(f.set.texts) == 0 {
		return ""
	}
	return f.set.texts[len(f.set.texts)-1]
}

// Names returns the flag's names as they are typed, the short ones first.
func (f *Flag) Names() []string {
	var names []string
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			names = append(names, "-"+alias)
		}
	}
	return append(names, "--"+f.Name)
}

// Variable returns the name of the variable that sets the flag.
func (f *Flag) Variable() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// assign sets the flag. Several values of one rank add up where the flag may be repeated.
func (f *Flag) assign(text, origin string, rank Rank) error {
	if f.IsSwitch() {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return Usagef("%s is a switch: %q is neither true nor false", origin, text)
		}
		text = strconv.FormatBool(on)
	}
	if text == "" && !f.MayBeEmpty {
		return Usagef("%s is given an empty value", origin).
			Hint("leave the flag out, or set the variable that its value is taken from")
	}
	if f.set.rank < rank {
		f.clear()
	}
	f.set.rank, f.set.origin = rank, origin
	if f.set.texts = append(slices.Clip(f.set.texts), text); !f.Many {
		f.set.texts = f.set.texts[len(f.set.texts)-1:]
	}
	if err := f.place(text); err != nil {
		return Usagef("%s: %w", origin, err)
	}
	return nil
}

// place checks a value and puts it where it belongs.
func (f *Flag) place(text string) error {
	if f.Words != nil && !slices.Contains(f.Words, text) {
		return notOneOf(text, f.Words)
	}
	if f.To == nil {
		return nil
	}
	return f.To.set(text)
}

// clear makes the flag one that is not set.
func (f *Flag) clear() {
	f.set = setting{}
	if f.To != nil {
		f.To.clear()
	}
}

// Flags is the table of one command's options.
type Flags []Flag

// HelpFlag returns the flag that every command has.
func HelpFlag() Flag { return Flag{Name: "help", Aliases: []string{"h"}, Usage: "this text"} }

// In returns the flags with a heading, and the kinds of targets that they are about.
func (fs Flags) In(group string, kinds Kinds) Flags {
	for i := range fs {
		fs[i].Group = group
		fs[i].For = cmp.Or(fs[i].For, kinds)
	}
	return fs
}

// Lookup finds a flag by one of its names, without dashes.
func (fs Flags) Lookup(name string) *Flag {
	for i := range fs {
		if fs[i].Name == name || slices.Contains(fs[i].Aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// Only returns the flags with these names, in the order of the table and
// without headings.
func (fs Flags) Only(names ...string) Flags {
	var some Flags
	for _, f := range fs {
		if slices.Contains(names, f.Name) {
			f.Group = ""
			some = append(some, f)
		}
	}
	return some
}

// Shown returns the names of the flags that the help has.
func (fs Flags) Shown() []string {
	var names []string
	for _, f := range fs {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

// A Place is where the values of a flag go.
type Place struct {
	set   func(text string) error
	clear func() // back to what was there at first
}

// Func returns a place that set fills and clear empties.
func Func(set func(text string) error, clear func()) *Place { return &Place{set, clear} }

// To returns the place of one value, which read reads. What is there is the default.
func To[T any](to *T, read func(string) (T, error)) *Place {
	first := *to
	return &Place{
		set: func(text string) error {
			v, err := read(text)
			if err == nil {
				*to = v
			}
			return err
		},
		clear: func() { *to = first },
	}
}

// Maybe returns the place of a value that is nil unless the flag is given.
func Maybe[T any](to **T, read func(string) (T, error)) *Place {
	return To(to, func(text string) (*T, error) {
		v, err := read(text)
		return &v, err
	})
}

// Text returns the place of a text.
func Text[T ~string](to *T) *Place {
	return To(to, func(text string) (T, error) { return T(text), nil })
}

// Each returns the place of the texts of a flag that may be repeated.
func Each(to *[]string) *Place {
	return To(to, func(text string) ([]string, error) { return append(slices.Clip(*to), text), nil })
}

// On returns the place of a switch.
func On(to *bool) *Place {
	return To(to, func(text string) (bool, error) { return text == "true", nil })
}
