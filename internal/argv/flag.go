// Package argv defines flags, and reads a command line by a table of flags. A row of the table has the name of a
// flag, its help text, and a function that sets its value in a struct. The package does not depend on the rest
// of the program, except for small helpers.
package argv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Command is the main command or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // the operands in help, separated by blanks; no more are accepted
	Summary  string // one line, for the list of subcommands
	Flags    Flags

	HasVariables bool               // environment variables set its flags, too
	OwnsSignals  bool               // the command handles signals itself
	NamesFlag    bool               // an operand without other arguments may look like a flag
	Offers       func() []Candidate // returns candidates for the first operand; nil without completion
	Into         any                // a pointer to the struct that the flags set; nil without a struct
	Run          func(context.Context, *Line) error
	Raw          func(context.Context, []string) (done bool, err error) // handles the arguments before they are parsed; nil for a command that parses them
}

// A Flag is one option of a command. The same table serves the command line, environment variables, targets
// files, help, completion and the manual.
type Flag struct {
	Name       string   // the long name, without dashes
	Aliases    []string // other names; a name of one letter is a short flag
	Value      string   // the placeholder of the value in help, such as EXPR; "" for a switch
	Usage      string
	More       string   // text that only the manual adds to Usage
	Default    string   // the default as help prints it; "" without a default
	Group      string   // the heading in help
	Words      []string // the possible values; nil if they cannot be listed
	Set        Reader   // parses and sets the value; nil for a flag that sets nothing
	For        Kinds    // the kinds of targets that the flag applies to; 0 means all
	Needs      string   // the name of another flag that must be on; "" without such a flag
	Not        string   // the flags that contradict this flag: NAME, NAME=VALUE, or NAME!=VALUE for any other value
	Many       bool     // the flag may be repeated
	Brief      bool     // the short help contains the flag
	Hidden     bool     // the flag is accepted, but help does not show it
	FromFile   bool     // @FILE means the content of the file
	MayBeEmpty bool     // an empty value is valid
	WholeRun   bool     // an entry of a targets file cannot set the flag
	// HasVariable is true if the setting makes sense for every wait of a user or a CI job. An environment
	// variable sets such a flag, too.
	HasVariable bool
	// Distinctive is true if hardly any other program has a flag with this name. Such a flag is misplaced among
	// the arguments of a command.
	Distinctive bool
	// Offers returns further candidates for completion: examples if other values are possible, too, and lists
	// that take time to build.
	Offers func() []Candidate
}

// Kinds are kinds of targets, as bits. The program defines the meaning of each bit.
type Kinds uint8

// IsSwitch reports whether the flag is a switch, which needs no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

// Fits reports whether the flag applies to at least one of kinds.
func (f *Flag) Fits(kinds Kinds) bool { return f.For == 0 || f.For&kinds != 0 }

// Variable returns the name of the environment variable for the flag, such as POLL_UNTIL. The variable sets the
// flag only if HasVariable is true.
func (f *Flag) Variable() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// read parses text, and returns the function that sets the value. The function is nil for a flag that sets
// nothing.
func (f *Flag) read(text string) (apply func(any), err error) {
	if f.Words != nil {
		_, err = ParseWord(f.Words)(text)
	}
	if err != nil || f.Set == nil {
		return nil, err
	}
	return f.Set(text)
}

// Flags is the table of the flags of a command.
type Flags []Flag

// HelpFlag returns the flag --help, which every command has.
func HelpFlag() Flag { return Flag{Name: "help", Aliases: []string{"h"}, Usage: "this text"} }

// In sets the heading of the flags in fs to group, and returns fs. Flags without kinds of targets get kinds.
func (fs Flags) In(group string, kinds Kinds) Flags {
	for i := range fs {
		fs[i].Group = group
		fs[i].For = cmp.Or(fs[i].For, kinds)
	}
	return fs
}

// Lookup returns the flag with the name or alias name, which has no dashes. It returns nil without such a flag.
func (fs Flags) Lookup(name string) *Flag {
	for i := range fs {
		if fs[i].Name == name || slices.Contains(fs[i].Aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// Named returns the flag with the name name. It returns nil without such a flag, and if name is an alias.
func (fs Flags) Named(name string) *Flag {
	if f := fs.Lookup(name); f != nil && f.Name == name {
		return f
	}
	return nil
}

// Only returns the flags with the given names, in the order of the table and without headings.
func (fs Flags) Only(names ...string) Flags {
	some := slices.DeleteFunc(slices.Clone(fs), func(f Flag) bool { return !slices.Contains(names, f.Name) })
	return some.In("", 0)
}

// Shown returns the names of the flags that help shows.
func (fs Flags) Shown() []string {
	var names []string
	for _, f := range fs {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

// A Reader parses the value of a flag. It returns a function that sets the value in a struct. The function may
// be called again, and for another struct.
type Reader func(text string) (apply func(any), err error)

// Parsed returns a reader that parses a value of type T with parse. set sets the value in a struct of type R.
func Parsed[R, T any](parse func(string) (T, error), set func(*R, T)) Reader {
	return func(text string) (func(any), error) {
		v, err := parse(text)
		return func(to any) {
			if r, ok := to.(*R); ok { // the flags of a command may set fields of two structs
				set(r, v)
			}
		}, err
	}
}

// Text returns a reader of a value that is not parsed.
func Text[R any](set func(*R, string)) Reader {
	return Parsed(func(text string) (string, error) { return text, nil }, set)
}

// Switch returns a reader of true and false.
func Switch[R any](set func(*R, bool)) Reader { return Parsed(strconv.ParseBool, set) }

// Of changes flags of a struct of type T into flags of a struct of type R, and returns them. field returns the T
// inside an R.
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
