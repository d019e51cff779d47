// Package argv has the type of a flag and reads a command line by a table of flags. A row of the
// table has the name of a flag, its help text, and the variable that receives its value. The package
// does not depend on the rest of the program.
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
	OwnsSignals  bool               // it ends by itself on a signal
	NamesFlag    bool               // its operand, if it stands alone, may look like a flag
	Offers       func() []Candidate // completes the first operand; nil without completion
	Into         any                // a pointer to the struct that the flags fill; nil for none
	Run          func(context.Context, *Line) error
	Raw          func(context.Context, []string) (done bool, err error) // handles the arguments before they are parsed; nil for a command that parses them
}

// A Flag is one option of a command. Reading, variables, targets files, help, completion and
// the manual all use the same table.
type Flag struct {
	Name       string   // long, without dashes
	Aliases    []string // other names; a name of one letter is a short flag
	Value      string   // the placeholder of the value in help, such as EXPR; "" for a switch
	Usage      string
	More       string   // text that only the manual adds to Usage
	Default    string   // the default as help prints it; "" without a default
	Group      string   // its heading in help
	Words      []string // the values it takes, where they can be listed
	Set        Reader   // parses and sets the value; nil for a flag that sets nothing
	For        Kinds    // the targets that it is about; 0 = all
	Needs      string   // a flag without which it means nothing
	Not        string   // flags that contradict it: NAME, NAME=VALUE, or NAME!=VALUE for any other value
	Many       bool     // it may be given several times
	Brief      bool     // it stands in the short help
	Hidden     bool     // it is accepted, but not shown
	FromFile   bool     // @FILE stands for what is in the file
	MayBeEmpty bool     // an empty value means something
	WholeRun   bool     // an entry of a targets file cannot set it
	// HasVariable is true for a setting that makes sense for every wait of a user or a CI job. A variable of the
	// environment sets such a flag, too.
	HasVariable bool
	// Distinctive is true for a name that hardly any other program uses for a
	// flag, so that it is misplaced among the words of a command.
	Distinctive bool
	// Offers lists what completion offers besides Words: examples where other
	// values are possible, and lists that take time to make.
	Offers func() []Candidate
}

// Kinds are kinds of targets, as bits. What they stand for is the program's.
type Kinds uint8

// IsSwitch reports whether the flag takes no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

// Fits reports whether the flag is about one of kinds.
func (f *Flag) Fits(kinds Kinds) bool { return f.For == 0 || f.For&kinds != 0 }

// Variable returns the name of the variable that sets the flag, if HasVariable is true.
func (f *Flag) Variable() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// read parses a value, and returns the function that sets it; nil for a flag that sets nothing.
func (f *Flag) read(text string) (apply func(any), err error) {
	if f.Words != nil {
		_, err = ParseWord(f.Words)(text)
	}
	if err != nil || f.Set == nil {
		return nil, err
	}
	return f.Set(text)
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

// Named returns the flag of that name, which is no alias, or nil.
func (fs Flags) Named(name string) *Flag {
	if f := fs.Lookup(name); f != nil && f.Name == name {
		return f
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

// A Reader parses the value of a flag. It returns a function that sets the value in the struct that the flags of a
// command fill. To call the function again, or for another struct, is safe.
type Reader func(text string) (apply func(any), err error)

// Parsed returns the reader of a value of type T, which set sets in a struct of type R.
func Parsed[R, T any](parse func(string) (T, error), set func(*R, T)) Reader {
	return func(text string) (func(any), error) {
		v, err := parse(text)
		return func(to any) {
			if r, ok := to.(*R); ok { // the flags of a command may fill two structs
				set(r, v)
			}
		}, err
	}
}

// Text returns the reader of a value that is not parsed.
func Text[R any](set func(*R, string)) Reader {
	return Parsed(func(text string) (string, error) { return text, nil }, set)
}

// Switch returns the reader of a switch.
func Switch[R any](set func(*R, bool)) Reader { return Parsed(strconv.ParseBool, set) }

// Of returns the flags that fill a struct of type T as flags of a struct of type R, which has the other as a field.
func Of[R, T any](flags Flags, field func(*R) *T) Flags {
	for i, f := range flags {
		flags[i].Set = func(text string) (func(any), error) {
			apply, err := f.Set(text)
			return func(to any) {
				if r, ok := to.(*R); ok {
					apply(field(r))
				}
			}, err
		}
	}
	return flags
}

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
