package read

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// MayShow returns an error for a value that is not a part of a response.
func MayShow(e *expr.Expr) error {
	switch {
	case e.Reads("ENV"):
		return argv.Usagef("%s names the environment, which may hold secrets and is not shown", e)
	case !e.Reads():
		return argv.Usagef("%s is the same for every answer", e)
	}
	return nil
}

// Values compiles the expressions of a flag, and checks each.
func (s *Run) Values(flag string, texts []string, check func(*expr.Expr) error) ([]*expr.Expr, error) {
	compile := func(text string) (*expr.Expr, error) { return expr.CompileValue(text, expr.WithEnviron(s.LookupEnv)) }
	return compileAll(s.Origin(flag), texts, compile, check, false)
}

// compileAll compiles the expressions of a flag. Those that fail the check are refused, or left out
// if they are for others.
func compileAll[E any](origin string, texts []string, compile func(string) (E, error), check func(E) error, isForOthers bool) (list []E, err error) {
	for _, text := range texts {
		e, err := compile(text)
		if err == nil {
			if err = check(e); err != nil && isForOthers {
				continue
			}
		}
		if err != nil {
			return nil, BadExpression(origin, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// Applies returns an error for a rule on variables that the probe does not set: the rule would always be false, or
// always true. A rule may be about an element of a response.
func Applies(x *expr.Expr, kind status.Kind, element bool) error {
	of := map[bool]string{true: "element", false: "answer"}[element]
	for name := range strings.FieldsSeq("gone element . [] isjson body unchanged name exit stdout stderr status event header") {
		if !x.Reads(name) {
			continue
		}
		if wrong, hint := argv.Advice("reads " + name + " " + kind.String() + " " + of); wrong != "" {
			return argv.Usagef("%s", wrong).Hint("%s", hint)
		}
	}
	return nil
}

// BadExpression returns an error that names the flag of an expression.
func BadExpression(origin string, err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		_, hint := argv.Advice(strings.TrimLeft(origin[strings.LastIndex(origin, " ")+1:], "-") + " " + e.Source)
		e.Hint = cmp.Or(hint, e.Hint)
		return argv.Usagef("%s, %w", origin, e) // which begins with a column
	}
	return argv.Usagef("%s: %w", origin, err)
}

// find matches a pattern, and its groups, against something mistyped. It compiles
// the pattern on demand, since most runs need none.
func find(pattern, text string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }

func CompileValue(l *argv.Line, flag, text string) (*expr.Expr, error) {
	e, err := expr.CompileValue(text, expr.WithEnviron(l.LookupEnv))
	if err != nil {
		return nil, BadExpression(l.Origin(flag), err)
	}
	return e, nil
}

// located adds the place of a target to an error.
func located(place string, err error) error {
	if err == nil || place == "" {
		return err
	}
	return argv.Usagef("%s%w", place, err)
}
