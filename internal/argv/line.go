package argv

import (
	"cmp"
	"context"
	"strings"
)

// A Line is a command line that was read: a table of flags, of which some are set, and the
// operands. It keeps the first invalid value as its error.
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
	// LookupEnv returns the value of a variable, and whether it is set.
	LookupEnv func(name string) (value string, ok bool)
	// Write writes a command's result to stdout.
	Write func(ctx context.Context, text string) error

	err error
}

// Assign sets a flag, and keeps the error if it cannot be set to that.
func (l *Line) Assign(f *Flag, text, origin string, rank Rank) {
	l.err = cmp.Or(l.err, f.assign(text, origin, rank))
}

// Err returns the error of the first invalid value.
func (l *Line) Err() error { return l.err }

// ErrOr returns Err, which may be the cause of err, or else err.
func (l *Line) ErrOr(err error) error { return cmp.Or(l.err, err) }

// Save returns what takes back all that is set from now on, and returns the first error of that.
// What is read into places is the caller's to restore.
func (l *Line) Save() (restore func() error) {
	var before []setting
	for i := range l.Command.Flags {
		before = append(before, l.Command.Flags[i].set)
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
		name := f.Variable()
		text, isSet := l.LookupEnv(name)
		switch {
		case !isSet || f.set.rank > Unset || f.Hidden || f.Name == "help" || f.Name == "version":
		case text == "" && f.Decides:
			l.err = cmp.Or[error](l.err, Usagef("%s is set, and empty", name).Hint("unset %s, or give it a value as --%s", name, f.Name))
		case text == "" || !f.fits(kinds):
		case f.Many:
			for text := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
				l.Assign(f, text, name, Variable)
			}
		default:
			l.Assign(f, text, name, Variable)
		}
	}
}

// Settle refuses what has at least a rank, and fits no target, lacks what it needs, or
// contradicts what has the same rank. A variable that lacks something is for other runs. unfit
// says what is wrong with a flag that fits no target.
func (l *Line) Settle(kinds Kinds, least Rank, unfit func(*Flag) error) error {
	if err := l.refuseConflicts(); err != nil {
		return err
	}
	for i := range l.Command.Flags {
		f := &l.Command.Flags[i]
		switch {
		case !f.Given() || f.set.rank < least:
		case !f.fits(kinds):
			return unfit(f)
		case f.Needs != "" && l.lacks(f.Needs) && !l.DropVariable(f.Name):
			return Usagef("%s needs --%s", f.Origin(), f.Needs).Advise("needs " + f.Name)
		}
	}
	return nil
}

func (l *Line) lacks(name string) bool {
	f := l.at(name)
	return !f.Given() && (f.WholeRun || !l.Entries)
}

// A Conflict is a pair of flags that exclude each other.
type Conflict struct {
	Flag, Other string
	// Unless is a value of Other that does not conflict; "" means none.
	Unless string
	// Only is the one value of Other that conflicts; "" means any.
	Only string
}

// Conflicting returns the conflicts of a flag with several others.
func Conflicting(flag string, others ...string) []Conflict {
	var list []Conflict
	for _, other := range others {
		list = append(list, Conflict{Flag: flag, Other: other})
	}
	return list
}

// refuseConflicts refuses two flags of one rank that contradict each other, and drops the one
// of the lower rank.
func (l *Line) refuseConflicts() error {
	for _, c := range l.Command.Conflicts {
		one, other := l.at(c.Flag), l.at(c.Other)
		switch {
		case !one.Given() || !other.Given():
		case other.text() == c.Unless || c.Only != "" && other.text() != c.Only:
		case one.set.rank < other.set.rank:
			one.clear()
		case other.set.rank < one.set.rank:
			other.clear()
		default:
			return Usagef("%s and %s contradict each other: give one of them", one.spelled(), other.spelled())
		}
	}
	return nil
}

// spelled names a flag, with its value where that is one of a few words.
func (f *Flag) spelled() string {
	if f.Words != nil {
		return f.Origin() + " " + f.text()
	}
	return f.Origin()
}

// Getenv returns the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.LookupEnv(name)
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

// at returns the flag of that name, or one that is not set.
func (l *Line) at(name string) *Flag { return cmp.Or(l.Flag(name), &Flag{Name: name}) }

// Typed returns a flag that was typed, and is no switch that is turned off; nil for any other.
func (l *Line) Typed(name string) *Flag {
	if f := l.at(name); f.Given() && f.set.rank == Typed {
		return f
	}
	return nil
}

// DropVariable drops a flag that a variable has set, and reports whether one has: a
// variable that does not fit this line is for others, while a flag that was typed is refused.
func (l *Line) DropVariable(name string) bool {
	f := l.at(name)
	if f.set.rank != Variable {
		return false
	}
	f.clear()
	return true
}

// Has reports whether a flag is set.
func (l *Line) Has(name string) bool { return l.at(name).set.rank > Unset }

// Origin returns what an error calls the flag: its variable, if that set it.
func (l *Line) Origin(name string) string { return l.at(name).Origin() }

// String returns the value of a flag, "" if it is not set.
func (l *Line) String(name string) string { return l.at(name).text() }

// Strings returns all values of a flag that may be repeated.
func (l *Line) Strings(name string) []string { return l.at(name).set.texts }
