package poll

import (
	"context"

	"github.com/pollcli/poll/status/expr"
)

// A value is an expression whose text becomes a URL, or a part of one.
type value struct{ *expr.Expr }

func compileValue(source string) (value, error) {
	x, err := expr.CompileValue(source)
	return value{x}, err
}

// text returns the value in an answer: a string, or a number as it is written
// there. The problem says why there is none.
func (v value) text(ctx context.Context, a *answer) (text, problem string) {
	env := &expr.Env{Doc: expr.NewDoc(a.body), Status: &a.code, Header: a.header, Body: a.body, Context: ctx}
	if a.truncated {
		env.Doc = expr.Unreadable("the answer is longer than what is kept of it")
	}
	switch got := v.Eval(env).Value(); got.Kind {
	case expr.KindString, expr.KindNumber:
		if got.Text() == "" {
			return "", v.String() + " is empty"
		}
		return got.Text(), ""
	case expr.KindUnknown, expr.KindMissing:
		return "", got.Reason
	}
	return "", v.String() + " is neither text nor a number"
}

// mustValue compiles an expression of this package's own.
func mustValue(source string) value {
	v, err := compileValue(source)
	if err != nil {
		panic(err)
	}
	return v
}
