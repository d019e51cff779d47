// Package argv is a small framework for command lines: flags anywhere before a
// command's own words, variables that stand for flags, completion, help, and
// errors that suggest what was meant. It knows nothing of the program's
// purpose.
//
// It builds on urfave/cli, which sets the flags, reads their variables and runs
// the command. The words are parsed here: urfave would take the first operand
// for a subcommand, does not read -XPOST, takes a flag for the value of the one
// before it, and has its errors only as prose.
package argv

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// A Program is a main command with subcommands.
type Program struct {
	Name      string
	Variables string // prefix of the names of its variables
	Main      *Command
	// Subcommands are the subcommands, in the order in which help lists them.
	Subcommands []Constructor
	// Topics are what the help explains besides the commands.
	Topics []Topic
	// Synonyms maps the names that other programs give to flags to those used
	// here.
	Synonyms map[string]string
	// Foreign maps flags of other programs that have no counterpart to what to write
	// instead.
	Foreign map[string]string

	// IsOperand reports whether a word is an operand of the main command. The
	// first word that is not begins a command, whose words are its own.
	IsOperand func(word string) bool
	// Refuse reports what is wrong with a word that is not an operand; given
	// reports whether a flag comes before it. It may be nil.
	Refuse func(word string, given func(flag string) bool) error
	// Surplus says why the main command takes no further operand.
	Surplus string
	// Describe returns the part of a word that an error may repeat, and a hint,
	// if any, to what it was meant to be. Operands can be secrets.
	Describe func(word string) (harmless, hint string)

	Lookup func(name string) (value string, ok bool) // of a variable
	Write  func(ctx context.Context, text string) error
}

// A Topic is a page of the help that is not about one command.
type Topic struct {
	Name, Summary string
	Text          func() string
}

// A Constructor makes a subcommand. Building its table of flags takes time, so
// this is done only on demand.
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
	Usage    []string // the lines below "Usage:", if Operands is not enough
	Before   string   // what its help says before the flags
	Flags    Flags
	After    string // what its help ends with

	HasVariables bool // its flags have variables, as those of the main command do

	MaxOperands int    // [Any] number
	Surplus     string // why no more are allowed: "takes one name"
	Conflicts   []Conflict
	// Arguments lists the candidates for the next operand, given those before
	// it. It may be nil.
	Arguments func(before []string) Completion
	Run       func(context.Context, *Line) error
}

// Any is the MaxOperands of a command that takes any number of operands.
const Any = -1

// An Example is a command line with an explanation.
type Example struct{ Line, About string }

// Run reads the arguments and runs the command that they name. The line is what
// was read, even if something is wrong with it.
func (p *Program) Run(ctx context.Context, args []string) (*Line, error) {
	l := &Line{reader: reader{program: p, command: p.Main}}
	for len(args) > 0 {
		rest, err := l.read(args)
		l.keep(err)
		if l.err != nil && rest == nil {
			rest = args[1:] // this may not be where a command begins
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

// A setting is a flag as urfave sees it: set by the words or, if they do not
// name it, by its variable.
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
func (s setting) Names() []string { return []string{s.Name} } // as [reader.give] writes them
func (s setting) IsSet() bool     { return s.line.Has(s.Name) }
func (s setting) Get() any        { return s.line.String(s.Name) }
func (s setting) PreParse() error { return nil }

func (s setting) Set(_, value string) error {
	s.line.Given = append(s.line.Given, Given{Flag: s.Flag, Value: value, Origin: "--" + s.Name})
	return nil
}

// PostParse gives a flag of a command with variables that was not typed the value of
// its variable, unless it asks for something other than a run. The variable of a flag that may be repeated holds one value per
// line.
func (s setting) PostParse() error {
	if s.line.command != s.line.program.Main && !s.line.command.HasVariables || s.Hidden || s.IsSet() || s.Name == "help" || s.Name == "version" {
		return nil
	}
	name := s.line.program.Variables + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
	value, isSet := s.line.program.Lookup(name)
	if isSet && value == "" && s.Decides {
		s.line.keep(Usagef("%s is set, and empty", name).Hint("unset %s, or give it a value as --%s", name, s.Name))
	}
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

// find returns the subcommand with that name, nil if there is none.
func (p *Program) find(name string) *Command {
	for _, c := range p.Subcommands {
		if c.Name == name {
			return c.New()
		}
	}
	return nil
}

// Names returns the names of the subcommands.
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

// A Flag is one option of a command. Reading, variables, help, completion and
// the manual all use the same table.
type Flag struct {
	Name    string   // long, without dashes
	Aliases []string // other names; those of one letter are short
	Value   string   // what stands for the value in help; "" for a switch
	Many    bool     // may be given several times
	Usage   string
	Default string // in words, "" for none
	Group   string // its heading in help
	Hidden  bool   // accepted, not shown
	Rare    bool   // shown in the manual and by completion, but not in the help
	// Distinctive is true for a name that hardly any other program uses for a
	// flag, so that it is misplaced among the words of a command. With Words,
	// only one of those values makes it so.
	Distinctive bool
	Words       []string // the values it takes, where they can be listed
	// Offers lists what completion offers besides Words: examples where other
	// values are possible, and lists that take time to make.
	Offers     func() []Candidate
	FromFile   bool // @FILE stands for what is in the file
	MayBeEmpty bool // an empty value means something
	Decides    bool // on it depends how a run ends: its variable, once it is set, must not be empty
}

// IsSwitch reports whether the flag takes no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

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

// Flags is the table of one command's options.
type Flags []Flag

// HelpFlag returns the flag that every command has.
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
