package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A flag is one option of a command. Everything that has to know the options
// (argument splitting, the environment, help, completion) reads the same table.
type flag struct {
	name    string   // long, without dashes
	aliases []string // other names; those of one letter are short
	value   string   // what stands for the value in help; "" for a switch
	many    bool     // may be given several times
	usage   string
	def     string // the default in words, "" for none
	group   string // under which heading it stands in help
	hidden  bool   // accepted, not shown
	// onlyPolls is true for a name that hardly any other program gives to a flag:
	// behind a command it is misplaced. Where values are offered, too, it is so
	// with one of them.
	onlyPolls bool
	words     []string // the values it takes, where they can be listed
	// offers lists what completion offers beside: values where others are
	// possible, and those whose list costs something to make.
	offers     func() []candidate
	fromFile   bool // @FILE stands for what is in the file
	mayBeEmpty bool // an empty value means something
}

// env is the name of the environment variable that stands for the flag.
func (f *flag) env() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

func (f *flag) isSwitch() bool { return f.value == "" }

// urfave makes the library's flag of f. Values stay text: they are read, with
// better words about what is wrong with them, by [values].
func (f *flag) urfave() cli.Flag {
	switch {
	case f.isSwitch():
		return &cli.BoolFlag{Name: f.name, Aliases: f.aliases, Usage: f.usage, Hidden: f.hidden, Category: f.group, DisableDefaultText: true}
	case f.many:
		return &cli.StringSliceFlag{Name: f.name, Aliases: f.aliases, Usage: f.usage, Hidden: f.hidden, Category: f.group}
	}
	return &cli.StringFlag{Name: f.name, Aliases: f.aliases, Usage: f.usage, Hidden: f.hidden, Category: f.group, DefaultText: f.def}
}

// flags is the table of one command's options.
type flags []flag

func (fs flags) urfave() []cli.Flag {
	made := make([]cli.Flag, len(fs))
	for i := range fs {
		made[i] = fs[i].urfave()
	}
	return made
}

// lookup finds a flag by one of its names, without dashes.
func (fs flags) lookup(name string) *flag {
	for i := range fs {
		if fs[i].name == name || slices.Contains(fs[i].aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// names are all long names that are shown.
func (fs flags) names() []string {
	var names []string
	for i := range fs {
		if !fs[i].hidden {
			names = append(names, fs[i].name)
		}
	}
	return names
}

// only returns the flags of these names, in the order of the table and without
// headings.
func (fs flags) only(names ...string) flags {
	var some flags
	for i := range fs {
		if slices.Contains(names, fs[i].name) {
			f := fs[i]
			f.group = ""
			some = append(some, f)
		}
	}
	return some
}
