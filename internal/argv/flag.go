// Package argv defines flags, and reads a command line by a table of flags. A row of the table has the name of a
// flag, its help text, and a function that sets its value in a struct. The package does not depend on the rest
// of the program, except for small helpers.
package argv

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Command is the main command or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // the operands in help, separated by blanks; no more are accepted
	Summary  string // one line, for the list of subcommands
	Flags    Flags

	HasVariables bool            // environment variables set its flags, too
	OwnsSignals  bool            // the command handles signals itself
	NamesFlag    bool            // an operand without other arguments may look like a flag
	Offers       func() []string // returns candidates for the first operand; nil without completion
	Into         any             // a pointer to the struct that the flags set; nil without a struct
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
	Offers func() []string
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

// ParseDuration parses a duration with its unit, such as 30s. The number 0 needs no unit. A negative duration is
// an error.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	n, isNumber := number(s)
	switch {
	case d < 0 || n < 0:
		return 0, Usagef("%s is negative", s).Advise("time " + s)
	case err == nil:
		return d, nil
	case isNumber:
		return 0, Usagef("%s needs a unit, e.g. %ss", s, s).Advise("time " + s)
	}
	return 0, Usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s).Advise("time " + s)
}

// number parses a finite number, and reports whether s is a finite number.
func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// least returns a parser of values that are at least bound. Errors name the kind of value by what.
func least[T cmp.Ordered](bound T, what string, parse func(string) (T, bool)) func(string) (T, error) {
	return func(s string) (T, error) {
		n, ok := parse(s)
		switch {
		case !ok:
			return n, Usagef("%q is not %s", s, what)
		case n < bound:
			return n, Usagef("%v is less than %v", n, bound)
		}
		return n, nil
	}
}

// ParseCount returns a parser of whole numbers that are at least bound.
func ParseCount(bound int) func(string) (int, error) {
	return least(bound, "a whole number", func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil
	})
}

// ParseNumber returns a parser of numbers that are at least bound.
func ParseNumber(bound float64) func(string) (float64, error) {
	return least(bound, "a number", number)
}

// ParsePercent parses a percentage above 0. It returns 0.1 for "10%".
func ParsePercent(s string) (float64, error) {
	digits, hasUnit := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	switch {
	case !ok:
		return 0, Usagef("%q is not a percentage, e.g. 10%%", s)
	case !hasUnit:
		return 0, Usagef("%s needs a %%, e.g. 10%%", s)
	case n <= 0:
		return 0, Usagef("%s is not more than 0%%", s)
	}
	return n / 100, nil
}

// ParseRate parses a number of events in a time, such as "5/10s", as in the --rate of curl. It returns the
// number of events per second. "0" returns 0, which means no limit.
func ParseRate(s string) (float64, error) {
	count, per, hasUnit := strings.Cut(s, "/")
	n, ok := number(count)
	switch {
	case ok && n == 0:
		return 0, nil
	case ok && !hasUnit: // in curl, a number without a unit is per hour
		return 0, Usagef("%s needs a unit of time, e.g. %s/s, %s/m or %s/h", s, s, s, s)
	}
	digits := strings.TrimRight(per, "smhd")
	units, isNumber := number(cmp.Or(digits, "1"))
	unit := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[per[len(digits):]]
	if !ok || n < 0 || !isNumber || units <= 0 || unit == 0 {
		return 0, Usagef("%q is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s", s)
	}
	return n / (units * unit), nil
}

// ParseShare parses "N" as a number, and "N%" as a share of total, rounded up. The result is at least 1 and at
// most total. things is the name of the counted things in errors.
func ParseShare(s string, total int, things string) (int, error) {
	digits, isShare := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	if isShare {
		n = math.Ceil(n*float64(total)/100 - 1e-9) // 4.4% of 750 is 33, although the product is 33.000000000000007
	}
	switch {
	case !ok || n <= 0 || n != math.Trunc(n):
		return 0, Usagef("%q is neither a whole number nor a percentage, e.g. 3 or 95%%", s)
	case isShare && n > float64(total):
		return 0, Usagef("%s is more than all", s)
	case n > float64(total):
		return 0, Usagef("%s of %d %s is more than all", s, total, things)
	}
	return int(n), nil
}

// ParseSize parses a number of bytes, with a unit or without. KiB, K and k are powers of 1024; kB and KB are
// powers of 1000. A fraction of a byte is dropped, but the number must be 0 or at least one byte.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKMGiB")
	factor := map[string]float64{
		"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30,
		"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[s[len(digits):]]
	n, ok := number(strings.TrimSpace(digits))
	switch {
	case !ok || factor == 0 || n < 0 || n > 0 && n*factor < 1:
		return 0, Usagef("%q is not a size, e.g. 64MiB", s)
	case n*factor >= math.MaxInt64:
		return 0, Usagef("%s is too large", s)
	}
	return int64(n * factor), nil
}

// ParseList returns a parser of a list with commas between its elements. read parses an element. Repeated
// elements are dropped.
func ParseList[T comparable](read func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) (list []T, err error) {
		for word := range strings.SplitSeq(s, ",") {
			v, err := read(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		return list, nil
	}
}

// ParseWord returns a parser that accepts only words.
func ParseWord(words []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", Usagef("%q is not one of %s", s, strings.Join(words, ", ")).Meant(s, words)
		}
		return s, nil
	}
}

// Texts converts words to strings, as tables of flags need them.
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
