package argv

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Line is a command line that was read: which flags are set to what, and the
// operands.
//
// The methods that read a value keep the first one that makes no sense as the
// error, which names where it came from; what is read after it does not matter.
type Line struct {
	Given    []Given // flags as they were typed, and then those of variables
	Operands []string

	program  *Program
	command  *Command
	args     []string
	split    split
	complete bool // it was read to its end
	err      error
}

// Given is a flag with a value.
type Given struct {
	Flag     *Flag
	Value    string // "true" or "false" for a switch
	Variable bool   // of the environment, not of the command line
	origin   string
}

// Origin is how an error names the flag: by its variable if that was used.
func (g *Given) Origin() string { return g.origin }

// Off reports whether it turns a switch off.
func (g *Given) Off() bool { return g.Flag.IsSwitch() && g.Value == "false" }

// Subcommand is the name of the subcommand, "" for the main command.
func (l *Line) Subcommand() string { return l.command.Name }

// Subcommands are the names of the program's subcommands.
func (l *Line) Subcommands() []string { return l.program.Names() }

// Write writes what a command has for stdout.
func (l *Line) Write(ctx context.Context, text string) error { return l.program.Write(ctx, text) }

// Getenv is the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.program.Lookup(name)
	return value
}

// IsCommand reports whether the operands are a program and its arguments.
func (l *Line) IsCommand() bool { return l.split.command }

// Last is what a flag is set to in the end, nil if it is not.
func (l *Line) Last(name string) *Given {
	for i := range slices.Backward(l.Given) {
		if l.Given[i].Flag.Name == name {
			return &l.Given[i]
		}
	}
	return nil
}

// Typed is what the command line itself sets a flag to, nil if it does not or
// turns a switch off.
func (l *Line) Typed(name string) *Given {
	if g := l.Last(name); g != nil && !g.Variable && !g.Off() {
		return g
	}
	return nil
}

// Has reports whether a flag is set.
func (l *Line) Has(name string) bool { return l.Last(name) != nil }

// On reports whether a switch is on.
func (l *Line) On(name string) bool {
	g := l.Last(name)
	return g != nil && g.Value == "true"
}

// Asks reports whether a switch is on, also of a line that cannot be read to its
// end.
func (l *Line) Asks(name string) bool {
	if l.complete {
		return l.On(name)
	}
	end := slices.Index(l.args, "--")
	if end < 0 {
		end = len(l.args)
	}
	value, _ := l.program.Lookup(l.program.variable(&Flag{Name: name}))
	on, err := switchValue(value)
	return err == nil && on == "true" || slices.Contains(l.args[:end], "--"+name) || slices.Contains(l.split.flags, "--"+name+"=true")
}

// Err is the first value that makes no sense.
func (l *Line) Err() error { return l.err }

// Fail keeps the first error, under the name of the flag or its variable.
func (l *Line) Fail(name string, err error) {
	if l.err == nil {
		l.err = Usagef("%s: %w", l.Origin(name), err)
	}
}

// Origin is how an error names a flag: by its variable if that was used.
func (l *Line) Origin(name string) string {
	if g := l.Last(name); g != nil {
		return g.Origin()
	}
	return "--" + name
}

// String is what a flag is set to, "" if it is not.
func (l *Line) String(name string) string {
	if g := l.Last(name); g != nil {
		return g.Value
	}
	return ""
}

// Strings returns all values of a flag that may be repeated.
func (l *Line) Strings(name string) []string {
	var list []string
	for _, g := range l.Given {
		if g.Flag.Name == name {
			list = append(list, g.Value)
		}
	}
	return list
}

// value reads a flag; without it, it is def.
func value[T any](l *Line, name string, def T, parse func(string) (T, error)) T {
	if !l.Has(name) {
		return def
	}
	v, err := parse(l.String(name))
	if err != nil {
		l.Fail(name, err)
	}
	return v
}

// Duration reads a time that is not negative.
func (l *Line) Duration(name string, def time.Duration) time.Duration {
	return value(l, name, def, func(s string) (time.Duration, error) {
		d, err := ParseDuration(s)
		if err != nil && len(l.Operands) > 0 && isUnit(s, l.Operands[0]) {
			return 0, Usagef("%s needs its unit in the same word: %s%s", s, s, l.Operands[0])
		}
		return d, err
	})
}

// isUnit reports whether a word is the unit that a number lacks.
func isUnit(number, word string) bool {
	_, err := time.ParseDuration(number + word)
	return err == nil && len(word) <= len("ms")
}

// ParseDuration reads a time with its unit. A bare 0 needs none.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d < 0:
		return 0, Usagef("%s is negative", s)
	case err == nil:
		return d, nil
	}
	if n, ok := number(s); ok && n < 0 {
		return 0, Usagef("%s is negative", s)
	} else if ok {
		return 0, Usagef("%s needs a unit, e.g. %ss", s, s)
	}
	if overflows(s) {
		return 0, Usagef("%s is more than 292 years", s) // what a Duration holds
	}
	return 0, Usagef("%q is not a time, e.g. 500ms, 30s, 5m, 1h30m", s)
}

// overflows reports whether s is a well-formed time that is too long: it would
// parse with every number replaced by 1.
func overflows(s string) bool {
	var short strings.Builder
	digits := false
	for _, r := range s {
		isDigit := r >= '0' && r <= '9' || r == '.'
		switch {
		case !isDigit:
			short.WriteRune(r)
		case !digits:
			short.WriteByte('1')
		}
		digits = isDigit
	}
	_, err := time.ParseDuration(short.String())
	return err == nil
}

// Count reads a whole number that is at least least.
func (l *Line) Count(name string, least, def int) int {
	return value(l, name, def, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return n, Usagef("%s is too large", s)
		case err != nil:
			return n, Usagef("%q is not a whole number", s)
		case n < least:
			return n, Usagef("%d is less than %d", n, least)
		}
		return n, nil
	})
}

// Uint64 reads a number from 0 on; without the flag it is 0.
func (l *Line) Uint64(name string) uint64 {
	return value(l, name, 0, func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 0, Usagef("%q is not a whole number from 0 on", s)
		}
		return n, nil
	})
}

// number reads a finite number.
func number(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// Number reads a number that is at least least.
func (l *Line) Number(name string, least, def float64) float64 {
	return value(l, name, def, func(s string) (float64, error) {
		n, ok := number(s)
		switch {
		case !ok:
			return 0, Usagef("%q is not a number", s)
		case n < least:
			return 0, Usagef("%v is less than %v", n, least)
		}
		return n, nil
	})
}

// Percent reads "10%" as 0.1. It has to be more than 0.
func (l *Line) Percent(name string) float64 {
	return value(l, name, 0, func(s string) (float64, error) {
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
	})
}

// sizeUnits are the powers of 1024 (KiB) and of 1000 (kB) that a size may have.
var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
}

// Size reads a number of bytes, with a unit or without.
func (l *Line) Size(name string, def int64) int64 { return value(l, name, def, parseSize) }

func parseSize(s string) (int64, error) {
	digits, factor := s, 1.0
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, unit.name); ok {
			digits, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	n, ok := number(digits)
	switch {
	case !ok:
		return 0, Usagef("%q is not a size, e.g. 64MiB", s)
	case n < 0:
		return 0, Usagef("%s is negative", s)
	case n*factor >= math.MaxInt64:
		return 0, Usagef("%s is too large", s)
	}
	return int64(n * factor), nil
}

// Choice reads one of the words that the flag takes. Without it, it is what the
// table has as its default.
func (l *Line) Choice(name string) string {
	f := l.command.Flags.Lookup(name)
	if !l.Has(name) {
		return f.Default
	}
	if s := l.String(name); slices.Contains(f.Words, s) {
		return s
	}
	l.Fail(name, notOneOf(l.String(name), f.Words))
	return f.Default
}

// List reads a list of words, separated by commas, each once.
func List[T ~string](l *Line, name string, words []T) []T {
	var list []T
	for word := range strings.SplitSeq(l.String(name), ",") {
		word := T(strings.TrimSpace(word))
		switch {
		case !slices.Contains(words, word):
			l.Fail(name, notOneOf(string(word), Texts(words)))
		case !slices.Contains(list, word):
			list = append(list, word)
		}
	}
	return list
}

func notOneOf(word string, words []string) *UsageError {
	return Usagef("%q is not one of %s", word, strings.Join(words, ", ")).Meant(word, words)
}

// Texts returns words of a type as plain text, which tables of flags have.
func Texts[T ~string](words []T) []string {
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	return plain
}

// A Conflict is two flags that cannot both be meant.
type Conflict struct {
	Flag, Other string
	// Unless is a value of Other with which the two go together; "" is none.
	Unless string
	// Only is the one value of Other with which they do not; "" is any.
	Only string
}

// Conflicting are the conflicts of a flag with several others.
func Conflicting(flag string, others ...string) []Conflict {
	list := make([]Conflict, len(others))
	for i, other := range others {
		list[i] = Conflict{Flag: flag, Other: other}
	}
	return list
}

// Resolve refuses two flags that contradict each other. Where one was typed and
// the other is only in the environment, the one that was typed is meant.
func (l *Line) Resolve(conflicts []Conflict) error {
	for _, c := range conflicts {
		one, other := l.Last(c.Flag), l.Last(c.Other)
		if one == nil || other == nil || one.Off() || other.Off() || other.Value == c.Unless || c.Only != "" && other.Value != c.Only {
			continue
		}
		switch {
		case one.Variable && !other.Variable:
			l.dropVariable(c.Flag)
		case other.Variable && !one.Variable:
			l.dropVariable(c.Other)
		default:
			return Usagef("%s and %s contradict each other: give one of them", one.spelled(), other.spelled())
		}
	}
	return nil
}

// dropVariable takes back what the environment said of a flag.
func (l *Line) dropVariable(name string) {
	l.Given = slices.DeleteFunc(l.Given, func(g Given) bool { return g.Variable && g.Flag.Name == name })
}

// spelled names a flag, with its value where that is one of a few words.
func (g *Given) spelled() string {
	if g.Flag.Words != nil {
		return g.Origin() + " " + g.Value
	}
	return g.Origin()
}
