package argv

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
)

// A Line is a command line that was read: the flags that are set, and the
// operands.
//
// The methods that read a value keep the first invalid one as the error, with
// where it came from; what is read after it does not matter.
type Line struct {
	reader
	Given []Given // flags as they were typed, then those set by variables
	err   error
}

// Given is a flag with its value.
type Given struct {
	Flag     *Flag
	Value    string // "true" or "false" for a switch
	Variable bool   // set in the environment, not on the command line
	// Inherited is true on a line made by [Line.With] for what it took over.
	Inherited bool
	Origin    string // how an error names the flag: by its variable if that was used
}

// Typed reports whether g was said of this very line, and not of all.
func (g *Given) Typed() bool { return !g.Variable && !g.Inherited }

// Off reports whether g turns a switch off.
func (g *Given) Off() bool { return g.Flag.IsSwitch() && g.Value == "false" }

// Subcommand returns the name of the subcommand, "" for the main command.
func (l *Line) Subcommand() string { return l.command.Name }

// Subcommands returns the names of the program's subcommands.
func (l *Line) Subcommands() []string { return l.program.Names() }

// Write writes a command's result to stdout.
func (l *Line) Write(ctx context.Context, text string) error { return l.program.Write(ctx, text) }

// LookupEnv returns the value of a variable, and whether it is set.
func (l *Line) LookupEnv(name string) (string, bool) { return l.program.Lookup(name) }

// Getenv returns the value of a variable, "" if it is not set.
func (l *Line) Getenv(name string) string {
	value, _ := l.LookupEnv(name)
	return value
}

// IsCommand reports whether the operands are a program and its arguments.
func (l *Line) IsCommand() bool { return l.isProgram }

// Last returns the last setting of a flag, nil if there is none.
func (l *Line) Last(name string) *Given {
	for i := range slices.Backward(l.Given) {
		if l.Given[i].Flag.Name == name {
			return &l.Given[i]
		}
	}
	return nil
}

// Typed returns the setting of a flag on the command line itself, nil if there
// is none or it turns a switch off.
func (l *Line) Typed(name string) *Given {
	if g := l.Last(name); g != nil && g.Typed() && !g.Off() {
		return g
	}
	return nil
}

// DropVariable drops a flag that a variable has set, and reports whether one has: a
// variable that does not fit this line is for others, while a flag that was typed is refused.
func (l *Line) DropVariable(name string) bool {
	g := l.Last(name)
	if g == nil || !g.Variable {
		return false
	}
	l.drop(name, g.rank())
	return true
}

// Has reports whether a flag is set.
func (l *Line) Has(name string) bool { return l.Last(name) != nil }

// On reports whether a switch is on.
func (l *Line) On(name string) bool { return l.String(name) == "true" }

// Err returns the error of the first invalid value.
func (l *Line) Err() error { return l.err }

// With returns a line on which settings replace those of the same flags. As what was
// typed wins over a variable that contradicts it, they win over the rest of the line.
func (l *Line) With(settings []Given) (*Line, error) {
	with := &Line{reader: l.reader, Given: make([]Given, 0, len(l.Given)+len(settings))}
	for _, g := range l.Given {
		if !slices.ContainsFunc(settings, func(s Given) bool { return s.Flag == g.Flag }) {
			g.Inherited = true
			with.Given = append(with.Given, g)
		}
	}
	for _, s := range settings {
		value, err := s.Flag.normal(s.Value)
		if err != nil {
			return nil, Usagef("%s: %w", s.Origin, err)
		}
		s.Value = value
		with.Given = append(with.Given, s)
	}
	if err := with.refuseEmpty(); err != nil {
		return nil, err
	}
	return with, with.refuseConflicts()
}

// Flag returns the flag of that name, nil if there is none.
func (l *Line) Flag(name string) *Flag {
	if f := l.command.Flags.Lookup(name); f != nil && f.Name == name {
		return f
	}
	return nil
}

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
	if g := l.Last(name); g != nil {
		return g.Origin
	}
	return "--" + name
}

// String returns the value of a flag, "" if it is not set.
func (l *Line) String(name string) string {
	if g := l.Last(name); g != nil {
		return g.Value
	}
	return ""
}

// All returns the settings of a flag that may be repeated.
func (l *Line) All(name string) iter.Seq[*Given] {
	return func(yield func(*Given) bool) {
		for i := range l.Given {
			if l.Given[i].Flag.Name == name && !yield(&l.Given[i]) {
				return
			}
		}
	}
}

// Strings returns all values of a flag that may be repeated.
func (l *Line) Strings(name string) []string {
	var list []string
	for g := range l.All(name) {
		list = append(list, g.Value)
	}
	return list
}

// value reads a flag; if it is not set, it returns def.
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

// List reads a comma-separated list of distinct words.
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

// Texts returns words of a type as strings, as tables of flags have them.
func Texts[T ~string](words []T) []string {
	var plain []string
	for _, w := range words {
		plain = append(plain, string(w))
	}
	return plain
}
