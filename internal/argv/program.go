// Package argv is a small framework for command lines: flags that may stand
// anywhere before a command's own words, variables that stand for flags,
// completion, help, and errors that say what was probably meant. It knows
// nothing of what the program is for.
//
// It stands on urfave/cli, which sets the flags, asks for their variables and
// runs the command. The words are taken apart here: urfave would take the first
// operand for a subcommand, does not read -XPOST, would take a flag for the value
// of the one before it, and has its errors only as prose.
package argv

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// A Program is a main command with subcommands.
type Program struct {
	Name      string // as it is typed
	Variables string // what the names of its variables begin with
	Main      *Command
	// Subcommands are the commands that a first word can name, as help lists them.
	Subcommands []Constructor
	// Synonyms are the names that other programs give to flags of this one.
	Synonyms map[string]string

	// IsOperand reports whether a word is an operand of the main command. The
	// first one that is none begins a command, whose words are its own.
	IsOperand func(word string) bool
	// Refuse says what is wrong with a word that is no operand; given reports
	// whether a flag comes before it. It may be nil.
	Refuse func(word string, given func(flag string) bool) error
	// Surplus is why the main command takes no further operand.
	Surplus string
	// Describe returns what of a word may be repeated in an error, and a hint, if
	// there is one, to what it was meant to be. Operands can be secrets.
	Describe func(word string) (harmless, hint string)

	Lookup func(name string) (value string, ok bool) // of a variable
	Write  func(ctx context.Context, text string) error
}

// A Constructor makes a subcommand. Its table of flags costs something, so it is
// only made when it is wanted.
type Constructor struct {
	Name string
	New  func() *Command
}

// A Command is the main command, or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // as help shows them
	Summary  string // one line, for the list
	About    string // a paragraph, for its own help
	Examples []Example
	Usage    []string // the lines below "Usage:", if they say more than Operands
	Flags    Flags
	After    string // what its help ends with

	MaxOperands int    // [Any] number
	Surplus     string // why there can be no more: "takes one name"
	Conflicts   []Conflict
	// Arguments lists what the next operand may be, given those before it. Nil
	// lists nothing.
	Arguments func(before []string) Completion
	Run       func(context.Context, *Line) error
}

// Any is the number of operands of a command that takes as many as there are.
const Any = -1

// An Example is a command line with a word on what it does.
type Example struct{ Line, About string }

// Run reads the arguments and runs the command that they name. The line is what
// was read, also where something is wrong with it.
func (p *Program) Run(ctx context.Context, args []string) (*Line, error) {
	l := &Line{reader: reader{program: p, command: p.Main}}
	for len(args) > 0 {
		rest, err := l.read(args)
		l.keep(err)
		if l.err != nil && rest == nil {
			rest = args[1:] // it may be no command that begins here
		}
		args = rest
	}
	root := &cli.Command{
		Name:     p.Name,
		Flags:    l.settings(),
		HideHelp: true,
		Action:   func(ctx context.Context, _ *cli.Command) error { return l.run(ctx) },
		// An error with an exit code would end the process otherwise.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
	}
	return l, root.Run(ctx, append([]string{p.Name}, l.flags...))
}

// run runs the command, unless its help is wanted or what was read contradicts
// itself.
func (l *Line) run(ctx context.Context) error {
	if l.err == nil && l.On("help") {
		return l.Write(ctx, l.program.Help(l.command))
	}
	for _, check := range []func() error{l.Err, l.refuseEmpty, l.refuseSurplus, l.refuseConflicts} {
		if err := check(); err != nil {
			return err
		}
	}
	return l.command.Run(ctx, l)
}

// A setting is a flag as urfave has it: it is set by the words and, if they do
// not name it, by its variable.
type setting struct {
	*Flag
	line *Line
}

func (l *Line) settings() []cli.Flag {
	var list []cli.Flag
	for i := range l.command.Flags {
		list = append(list, setting{&l.command.Flags[i], l})
	}
	return list
}

func (s setting) String() string  { return s.Name }
func (s setting) Names() []string { return []string{s.Name} } // those that [reader.give] writes
func (s setting) IsSet() bool     { return s.line.Has(s.Name) }
func (s setting) Get() any        { return s.line.String(s.Name) }
func (s setting) PreParse() error { return nil }

func (s setting) Set(_, value string) error {
	s.line.Given = append(s.line.Given, Given{Flag: s.Flag, Value: value, Origin: "--" + s.Name})
	return nil
}

// PostParse gives a flag of the main command that the words leave alone the value
// of its variable. A variable for a flag that may be repeated holds one value a
// line.
func (s setting) PostParse() error {
	if s.line.command != s.line.program.Main || s.Hidden || s.IsSet() {
		return nil
	}
	name := s.line.program.Variables + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
	value, _ := s.line.program.Lookup(name)
	if value == "" {
		return nil
	}
	values := []string{value}
	if s.Many {
		values = strings.Split(strings.TrimRight(value, "\n"), "\n")
	}
	for _, v := range values {
		v, err := s.normal(v)
		if err != nil {
			s.line.keep(Usagef("%s: %w", name, err))
		}
		s.line.Given = append(s.line.Given, Given{Flag: s.Flag, Value: v, Variable: true, Origin: name})
	}
	return nil
}

// find returns the subcommand of that name, nil if there is none.
func (p *Program) find(name string) *Command {
	for _, c := range p.Subcommands {
		if c.Name == name {
			return c.New()
		}
	}
	return nil
}

// Names are those of the subcommands.
func (p *Program) Names() []string {
	var names []string
	for _, c := range p.Subcommands {
		names = append(names, c.Name)
	}
	return names
}

// Commands makes all subcommands.
func (p *Program) Commands() []*Command {
	var list []*Command
	for _, c := range p.Subcommands {
		list = append(list, c.New())
	}
	return list
}

// A Flag is one option of a command. Everything that has to know the options
// (reading, variables, help, completion, the manual) uses the same table.
type Flag struct {
	Name    string   // long, without dashes
	Aliases []string // other names; those of one letter are short
	Value   string   // what stands for the value in help; "" for a switch
	Many    bool     // may be given several times
	Usage   string
	Default string // in words, "" for none
	Group   string // the heading in help that it stands under
	Hidden  bool   // accepted, not shown
	// Distinctive is true for a name that hardly any other program gives to a
	// flag: among the words of a command it is misplaced. Where values are offered,
	// it is so with one of them.
	Distinctive bool
	Words       []string // the values it takes, where they can be listed
	// Offers lists what completion offers beside Words: values where others are
	// possible, and those whose list costs something to make.
	Offers     func() []Candidate
	FromFile   bool // @FILE stands for what is in the file
	MayBeEmpty bool // an empty value means something
}

// IsSwitch reports whether the flag takes no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

// names are how it is typed, the short ones first.
func (f *Flag) names() []string {
	var names []string
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			names = append(names, "-"+alias)
		}
	}
	return append(names, "--"+f.Name)
}

// Flags is the table of one command's options.
type Flags []Flag

// HelpFlag is what every command has.
func HelpFlag() Flag { return Flag{Name: "help", Aliases: []string{"h"}, Usage: "this text"} }

// Lookup finds a flag by one of its names, without dashes.
func (fs Flags) Lookup(name string) *Flag {
	for i := range fs {
		if fs[i].Name == name || slices.Contains(fs[i].Aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// Only returns the flags of these names, in the order of the table and without
// headings.
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
