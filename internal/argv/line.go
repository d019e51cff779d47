package argv

import (
	"cmp"
	"context"
	"strings"
)

// A Line is a command line that was read: a table of flags, of which some are set, and the
// operands.
//
// The methods that read a value keep the first invalid one as the error, with
// where it came from; what is read after it does not matter.
type Line struct {
	Command *Command
	// Operands are those of the command, or a program and its arguments.
	Operands []string
	// Then is a program and its arguments: what comes after "--" behind operands.
	Then []string
	// IsCommand reports whether the operands are a program and its arguments, and Dashes
	// whether "--" comes before them.
	IsCommand, Dashes bool
	// Entries is true if the entries of a targets file may have what a flag needs.
	Entries bool
	// Lookup returns a variable of the environment, and Output writes a result.
	Lookup func(name string) (value string, ok bool)
	Output func(ctx context.Context, text string) error

	err error
}

// Assign sets a flag, and keeps the error if it cannot be set to that.
func (l *Line) Assign(f *Flag, text, origin string, rank Rank) {
	l.keep(f.assign(text, origin, rank))
}

// Save returns what takes back all that is set from now on, and returns the first error of that.
// What is read into places is the caller's to restore.
func (l *Line) Save() (restore func() error) {
	before := make([]setting, len(l.Command.Flags))
	for i, f := range l.Command.Flags {
		before[i] = f.set
	}
	return func() error {
		for i := range before {
			l.Command.Flags[i].set = before[i]
		}
		err := l.err
		l.err = nil
		return err
	}
}

// Environ takes variables for the flags that were not typed, and are about one of kinds.
func (l *Line) Environ(kinds Kinds) {
	for i := range l.Command.Flags {
		f := &l.Command.Flags[i]
		if f.set.rank > Unset || f.Hidden || f.Name == "help" || f.Name == "version" {
			continue
		}
		name := f.Variable()
		text, isSet := l.Lookup(name)
		switch {
		case text == "" && isSet && f.Decides:
			l.keep(Usagef("%s is set, and empty", name).Hint("unset %s, or give it a value as --%s", name, f.Name))
			continue
		case text == "" || f.For != 0 && f.For&kinds == 0:
			continue
		}
		texts := []string{text}
		if f.Many {
			texts = strings.Split(strings.TrimRight(text, "\n"), "\n")
		}
		for _, text := range texts {
			l.keep(f.assign(text, name, Variable))
		}
	}
}

// Settle refuses what has at least a rank, and fits no target, lacks what it needs, or
// contradicts what has the same rank. A variable that lacks something is for other runs. unfit
// says what is wrong with a flag that fits no target.
func (l *Line) Settle(kinds Kinds, least Rank, unfit func(*Flag) error) error {
	for i := range l.Command.Flags {
		f := &l.Command.Flags[i]
		lacks := f.Needs != "" && !l.given(f.Needs) && !(l.Entries && !l.Flag(f.Needs).WholeRun)
		switch {
		case !f.Given() || f.set.rank < least:
		case f.For != 0 && f.For&kinds == 0:
			return unfit(f)
		case lacks && f.set.rank == Variable:
			f.clear()
		case lacks:
			return Usagef("%s needs --%s", f.Origin(), f.Needs).Hint("%s", Advice("needs "+f.Name))
		}
	}
	return l.refuseConflicts()
}

func (l *Line) given(name string) bool {
	f := l.Flag(name)
	return f != nil && f.Given()
}

// Write writes a command's result to stdout.
func (l *Line) Write(ctx context.Context, text string) error { return l.Output(ctx, text) }

// LookupEnv returns the value of a variable, and whether it is set.
func (l *Line) LookupEnv(name string) (string, bool) { return l.Lookup(name) }

// Getenv returns the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.Lookup(name)
	return value
}

// Flag returns the flag of that name, nil if there is none.
func (l *Line) Flag(name string) *Flag {
	for i := range l.Command.Flags {
		if l.Command.Flags[i].Name == name {
			return &l.Command.Flags[i]
		}
	}
	return nil
}

// Typed returns a flag that was typed, and is no switch that is turned off; nil for any other.
func (l *Line) Typed(name string) *Flag {
	if f := l.Flag(name); f != nil && f.Given() && f.set.rank == Typed {
		return f
	}
	return nil
}

// DropVariable drops a flag that a variable has set, and reports whether one has: a
// variable that does not fit this line is for others, while a flag that was typed is refused.
func (l *Line) DropVariable(name string) bool {
	f := l.Flag(name)
	if f == nil || f.set.rank != Variable {
		return false
	}
	f.clear()
	return true
}

// Has reports whether a flag is set.
func (l *Line) Has(name string) bool {
	f := l.Flag(name)
	return f != nil && f.set.rank > Unset
}

// On reports whether a switch is on.
func (l *Line) On(name string) bool { return l.String(name) == "true" }

// Err returns the error of the first invalid value.
func (l *Line) Err() error { return l.err }

// ErrOr returns Err, which may be the cause of err, or else err.
func (l *Line) ErrOr(err error) error { return cmp.Or(l.err, err) }

func (l *Line) keep(err error) {
	if l.err == nil {
		l.err = err
	}
}

// Fail keeps err, under the name of the flag or its variable, if it is the
// first.
func (l *Line) Fail(name string, err error) { l.keep(Usagef("%s: %w", l.Origin(name), err)) }

// Origin returns what an error calls the flag: its variable, if that set it.
func (l *Line) Origin(name string) string {
	if f := l.Flag(name); f != nil {
		return f.Origin()
	}
	return "--" + name
}

// String returns the value of a flag, "" if it is not set.
func (l *Line) String(name string) string {
	if f := l.Flag(name); f != nil {
		return f.text()
	}
	return ""
}

// Strings returns all values of a flag that may be repeated.
func (l *Line) Strings(name string) []string {
	if f := l.Flag(name); f != nil {
		return f.set.texts
	}
	return nil
}
