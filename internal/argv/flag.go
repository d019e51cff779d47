// Package argv defines command-line flags and parses command lines. A table of flags has one row per flag, with
// the flag's name, its help text, and a function that stores the flag's value in a struct. The package does not
// depend on the rest of the program, except for small helpers.
//
// The files:
//
//	flag.go      flags and commands; parsers for durations, sizes, rates and other values
//	line.go      the command line and environment variables; unknown flags
//	settings.go  values with their sources: precedence, contradictions, flags that do not apply
//	usage.go     usage errors, and their hints from hints.txt
//	help.go      the flags as help and manual text; completion
package argv

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Command is the main command or a subcommand.
type Command struct {
	Name     string // "" for the main command
	Operands string // the operands as help shows them, separated by blanks; a line with more operands is rejected
	Summary  string // one line, for the list of subcommands
	Flags    Flags

	HasVariables bool            // environment variables can set the command's flags, too
	OwnsSignals  bool            // whether Run itself handles signals; otherwise a signal ends the program without waiting for Run
	NamesFlag    bool            // a single argument that starts with a dash is an operand, such as the name of a flag to explain
	Offers       func() []string // returns completion candidates for the first operand; nil without candidates
	Into         []any           // pointers to the structs that receive the flags' values, each of another type
	Run          func(context.Context, *Line) error
	Raw          func(context.Context, []string) (done bool, err error) // runs before the arguments are parsed, and reports whether it has handled them; nil for most commands
}

// A Flag is one option of a command. The same table of flags serves the command line, environment variables,
// targets files, help, completion and the manual.
type Flag struct {
	Name       string   // the long name, without dashes
	Aliases    []string // other names; a name with a single letter is a short flag
	Value      string   // the value's placeholder in help, such as EXPR; "" for a switch
	Usage      string
	More       string   // text that the manual prints after Usage
	Default    string   // the default value as help prints it; "" if there is no default
	Group      string   // the heading in help under which the flag is listed
	Words      []string // the only valid values; nil if other values are valid, too
	Set        Reader   // parses and stores the value; nil for a flag that stores nothing, such as --help
	For        Kinds    // the kinds of targets that the flag supports; 0 means all kinds
	Needs      string   // the name of another flag that must be set, too; "" if no other flag is needed
	Not        string   // flags that contradict this flag, separated by blanks: NAME, NAME=VALUE (only this value), or NAME!=VALUE (any other value)
	Many       bool     // whether the flag may be repeated
	Brief      bool     // whether the short help contains the flag
	Hidden     bool     // whether help omits the flag, which still works
	FromFile   bool     // whether a value of the form @FILE means the content of the file
	MayBeEmpty bool     // whether "" is a valid value
	WholeRun   bool     // the flag concerns the run as a whole, so that no single entry of a targets file can set it
	// HasVariable is true if an environment variable can set the flag. This makes sense if one value can suit
	// every wait of a user or of a CI job.
	HasVariable bool
	// Distinctive is true if hardly any other program has a flag with this name. If the flag appears among the
	// arguments of a program that poll starts, it was probably meant for poll.
	Distinctive bool
	// Offers returns completion candidates in addition to Words: examples for a flag with unlimited values, or a
	// list that takes time to build. It is nil if the flag needs no such candidates.
	Offers func() []string
}

// Kinds is a set of target kinds, with one bit for each kind. The program defines the meaning of the bits.
type Kinds uint8

// IsSwitch reports whether the flag is a switch, which is on or off and needs no value.
func (f *Flag) IsSwitch() bool { return f.Value == "" }

// Fits reports whether the flag applies to at least one kind in kinds.
func (f *Flag) Fits(kinds Kinds) bool { return f.For == 0 || f.For&kinds != 0 }

// Variable returns the name of the flag's environment variable, such as POLL_UNTIL for --until. The variable sets
// the flag only if HasVariable is true.
func (f *Flag) Variable() string {
	return "POLL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// read parses text as a value of the flag. It returns a function that stores the value in a struct, or nil if the
// flag stores nothing. It returns an error if text is not a valid value.
func (f *Flag) read(text string) (apply func(any), err error) {
	if f.Words != nil {
		_, err = ParseWord(f.Words)(text)
	}
	if err != nil || f.Set == nil {
		return nil, err
	}
	return f.Set(text)
}

// Flags is a table of flags, usually of all flags of a command.
type Flags []Flag

// HelpFlag returns the --help flag, which is part of every command's table.
func HelpFlag() Flag { return Flag{Name: "help", Aliases: []string{"h"}, Usage: "this text"} }

// In sets the help heading of every flag in fs to group, and returns fs itself. A flag without target kinds gets
// kinds.
func (fs Flags) In(group string, kinds Kinds) Flags {
	for i := range fs {
		fs[i].Group = group
		fs[i].For = cmp.Or(fs[i].For, kinds)
	}
	return fs
}

// Lookup returns the flag whose name or alias is name, given without dashes. It returns nil if there is no such
// flag.
func (fs Flags) Lookup(name string) *Flag {
	for i := range fs {
		if fs[i].Name == name || slices.Contains(fs[i].Aliases, name) {
			return &fs[i]
		}
	}
	return nil
}

// Named returns the flag whose name is name, given without dashes. It returns nil if there is no such flag. Unlike
// Lookup, it does not search aliases.
func (fs Flags) Named(name string) *Flag {
	if f := fs.Lookup(name); f != nil && f.Name == name {
		return f
	}
	return nil
}

// Only returns copies of the flags with the given names, in table order and without headings.
func (fs Flags) Only(names ...string) Flags {
	some := slices.DeleteFunc(slices.Clone(fs), func(f Flag) bool { return !slices.Contains(names, f.Name) })
	return some.In("", 0)
}

// Shown returns the names of all flags that are not hidden.
func (fs Flags) Shown() []string {
	var names []string
	for _, f := range fs {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

// A Reader parses a flag's value. It returns a function that stores the value in a struct. That function may be
// called several times, for different structs.
type Reader func(text string) (apply func(any), err error)

// Parsed returns a Reader that parses a value with parse, and stores it with set in a struct of type R. The
// function that the Reader returns does nothing for a struct of another type.
func Parsed[R, T any](parse func(string) (T, error), set func(*R, T)) Reader {
	return func(text string) (func(any), error) {
		v, err := parse(text)
		return func(to any) {
			if r, ok := to.(*R); ok {
				set(r, v)
			}
		}, err
	}
}

// Text returns a Reader that stores its argument unchanged.
func Text[R any](set func(*R, string)) Reader {
	return Parsed(func(text string) (string, error) { return text, nil }, set)
}

// Switch returns a Reader that parses a boolean with [strconv.ParseBool].
func Switch[R any](set func(*R, bool)) Reader { return Parsed(strconv.ParseBool, set) }

// ParseDuration parses a duration with a unit, such as 30s. Only 0 needs no unit. A negative duration is an error.
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

// number parses s as a floating-point number. ok is false if s is not a number, or if the number is infinite or NaN.
func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return n, true
}

// least returns a parser for values that are at least bound. It parses a value with parse. If parse fails, the error
// is "VALUE is not WHAT", where WHAT is the parameter what.
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

// ParseCount returns a parser for integers that are at least bound.
func ParseCount(bound int) func(string) (int, error) {
	return least(bound, "a whole number", func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil
	})
}

// ParseNumber returns a parser for finite numbers that are at least bound.
func ParseNumber(bound float64) func(string) (float64, error) {
	return least(bound, "a number", number)
}

// ParsePercent parses a percentage, which must be more than 0% but may exceed 100%. It returns 0.1 for "10%". A
// number without a percent sign is an error.
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

// ParseRate parses a rate such as "50/s" or "5/10s" (5 events in 10 seconds), as curl's --rate option does. It
// returns the number of events per second. For "0", it returns 0, which means unlimited. Unlike in curl, any other
// number needs a unit of time.
func ParseRate(s string) (float64, error) {
	count, per, hasUnit := strings.Cut(s, "/")
	n, ok := number(count)
	switch {
	case ok && n == 0:
		return 0, nil
	case ok && !hasUnit: // curl would count a number without a unit per hour
		return 0, Usagef("%s needs a unit of time, e.g. %s/s, %s/m or %s/h", s, s, s, s)
	}
	digits := strings.TrimRight(per, "smhd")
	units, isNumber := number(cmp.Or(digits, "1"))
	unit := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[per[len(digits):]]
	if !ok || n < 0 || !isNumber || units <= 0 || unit == 0 {
		return 0, Usagef("%q is not a rate in s, m, h or d, e.g. 50/s, 10/m or 5/10s", s)
	}
	return max(n/(units*unit), math.SmallestNonzeroFloat64), nil // a rate too low for a float64 is not 0, which means unlimited
}

// A Share is a number of things, or a percentage of all things. The zero value stands for no number.
type Share struct {
	Number    float64
	IsPercent bool
}

// ParseShare parses a whole number such as "3", or a percentage such as "95%". The number is more than 0, and a
// percentage is at most 100%.
func ParseShare(s string) (share Share, err error) {
	digits, isPercent := strings.CutSuffix(s, "%")
	n, ok := number(digits)
	switch {
	case !ok || n <= 0 || !isPercent && n != math.Trunc(n):
		return share, Usagef("%q is neither a whole number nor a percentage, e.g. 3 or 95%%", s)
	case isPercent && n > 100:
		return share, Usagef("%s is more than all", s)
	}
	return Share{n, isPercent}, nil
}

// Of returns the share of total. A percentage is rounded up, to at least 1. The error is not nil if the number is
// more than total. In the error, things names the counted objects.
func (s Share) Of(total int, things string) (int, error) {
	n := s.Number
	if s.IsPercent {
		n = max(1, math.Ceil(n*float64(total)/100-1e-9)) // 4.4% of 750 is 33, although the product is 33.000000000000007
	}
	if n > float64(total) {
		return 0, Usagef("%v of %d %s is more than all", n, total, things).Advise(fmt.Sprint("share ", n))
	}
	return int(n), nil
}

// ParseSize parses a size in bytes, with or without a unit. The units K, k, KiB, M, MiB, G and GiB are powers of
// 1024. The units kB, KB, MB and GB are powers of 1000. The result is rounded down, but a size between 0 and 1
// byte is an error.
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

// ParseList returns a parser for a comma-separated list. It parses each element with read, after trimming
// surrounding white space. It keeps only the first of equal elements.
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

// ParseWord returns a parser that accepts only the strings in words.
func ParseWord(words []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", Usagef("%q is not one of %s", s, strings.Join(words, ", ")).Meant(s, words)
		}
		return s, nil
	}
}

// Texts converts words, which may have any string type, to plain strings. The result suits [Flag.Words].
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
