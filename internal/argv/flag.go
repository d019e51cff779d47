// Package argv has the tables of flags: what a flag is called, how its value is read, where
// that goes, and what the help says. It knows nothing of the program's purpose.
package argv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Command is the main command, or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // as help shows them, with blanks between them; no more are taken
	Summary  string // one line, for the list
	Flags    Flags

	HasVariables bool               // variables of the environment set its flags, too
	Offers       func() []Candidate // for the first operand; nil for none
	Run          func(context.Context, *Line) error
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
	Not        string   // flags that contradict it: NAME, NAME=VALUE, or NAME!=VALUE for any other value
	Many       bool     // it may be given several times
	Whole      bool     // its variable is one value; that of others that are Many has one on each line
	Brief      bool     // it stands in the short help
	Hidden     bool     // it is accepted, but not shown
	FromFile   bool     // @FILE stands for what is in the file
	MayBeEmpty bool     // an empty value means something
	Decides    bool     // a run ends by it: its variable, once it is set, must not be empty
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
	Preset        // of a preset
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
func (f *Flag) text() string { return append([]string{""}, f.set.texts...)[len(f.set.texts)] }

// Fits reports whether the flag is about one of kinds.
func (f *Flag) Fits(kinds Kinds) bool { return f.For == 0 || f.For&kinds != 0 }

// Variable returns the name of the variable that sets the flag.
func (f *Flag) Variable() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Assign sets the flag. Several values of one rank add up where the flag may be repeated.
func (f *Flag) Assign(text, origin string, rank Rank) error {
	if on, err := strconv.ParseBool(text); f.IsSwitch() {
		if err != nil {
			return Usagef("%s is a switch: %q is neither true nor false", origin, text)
		}
		text = strconv.FormatBool(on)
	}
	if text == "" && !f.MayBeEmpty {
		return Usagef("%s is given an empty value", origin).
			Hint("leave the flag out, or set the variable that its value is taken from")
	}
	if f.set.rank > Unset && f.set.rank < rank {
		f.clear()
	}
	texts := []string{text}
	if f.Many {
		texts = slices.Concat(f.set.texts, texts)
	}
	f.set = setting{texts, origin, rank}
	if err := f.place(text); err != nil {
		return Usagef("%s: %w", origin, err)
	}
	return nil
}

// place checks a value and puts it where it belongs.
func (f *Flag) place(text string) (err error) {
	if f.Words != nil {
		_, err = ParseWord(f.Words)(text)
	}
	if err != nil || f.To == nil {
		return err
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
	some := slices.DeleteFunc(slices.Clone(fs), func(f Flag) bool { return !slices.Contains(names, f.Name) })
	return some.In("", 0)
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

// Func returns a place that set fills, and clear takes back to what was there at first.
func Func(set func(text string) error, clear func()) *Place { return &Place{set, clear} }

// Text returns the place of a text.
func Text[T ~string](to *T) *Place {
	return To(to, func(text string) (T, error) { return T(text), nil })
}

// On returns the place of a switch.
func On(to *bool) *Place { return To(to, strconv.ParseBool) }

// Help fills the flags of a subcommand into its help text.
func (c *Command) Help(text string) string {
	return strings.Replace(text, "{flags}\n", c.Flags.Help("Flags"), 1)
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
