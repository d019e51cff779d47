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

// MayShow returns a usage error for an expression that reads the environment, which may hold secrets, or that
// reads no part of a response.
func MayShow(e *expr.Expr) error {
	switch {
	case e.Reads("ENV"):
		return argv.Usagef("%s names the environment, which may hold secrets and is not shown", e)
	case !e.Reads():
		return argv.Usagef("%s is the same for every answer", e)
	}
	return nil
}

// Values compiles texts, the expressions of a flag, and calls check with each expression.
func (s *Run) Values(flag string, texts []string, check func(*expr.Expr) error) ([]*expr.Expr, error) {
	compile := func(text string) (*expr.Expr, error) { return expr.CompileValue(text, expr.WithEnviron(s.LookupEnv)) }
	return compileAll(s.Origin(flag), texts, compile, check, false)
}

// compileAll compiles texts, the expressions of a flag. An expression that fails check is an error, or is left
// out if isForOthers is true. origin names the flag in errors.
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

// Applies returns a usage error for an expression on variables that the kind of target never sets, since a
// rule on such a variable would never change. element means that the expression is evaluated for each element
// of --each.
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

// BadExpression returns a usage error that names the origin of the expression and wraps err.
func BadExpression(origin string, err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		_, hint := argv.Advice(strings.TrimLeft(origin[strings.LastIndex(origin, " ")+1:], "-") + " " + e.Source)
		e.Hint = cmp.Or(hint, e.Hint)
		return argv.Usagef("%s, %w", origin, e) // e starts with its column
	}
	return argv.Usagef("%s: %w", origin, err)
}

// find returns the match of pattern in text and its groups, or nil. It compiles pattern at each call, since
// most runs call it never.
func find(pattern, text string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }

func CompileValue(l *argv.Line, flag, text string) (*expr.Expr, error) {
	e, err := expr.CompileValue(text, expr.WithEnviron(l.LookupEnv))
	if err != nil {
		return nil, BadExpression(l.Origin(flag), err)
	}
	return e, nil
}

// located returns err with the prefix place, or err itself if place is "".
func located(place string, err error) error {
	if err == nil || place == "" {
		return err
	}
	return argv.Usagef("%s%w", place, err)
}
