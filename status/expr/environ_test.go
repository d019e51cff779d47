package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// environ has a secret in each variable.
func environ() expr.Option {
	variables := map[string]string{"SHA": "s3cret", "PATTERN": "^s3c", "MIN": "42", "OPEN": "s3cret(", "QUESTION": `.s3cret == "s3cret"`, "EMPTY": ""}
	return expr.WithEnviron(func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	})
}

// No variable of the environment is shown, not even where the answer has its value.
func TestEnviron(t *testing.T) {
	t.Parallel()
	const same, other = `{"sha":"s3cret","n":50,"list":["s3cret"],"items":[{"sha":"s3cret"}]}`, `{"sha":"abc","n":5,"list":["x"],"items":[{"sha":"x"}]}`
	for _, test := range []struct {
		src, doc string
		want     expr.Tri
		why      string
	}{
		{`.sha == $ENV.SHA`, same, expr.True, `.sha == $ENV.SHA is true`},
		{`.sha == $ENV["SHA"]`, same, expr.True, `.sha == $ENV["SHA"] is true`},
		{`.sha == $ENV.SHA`, other, expr.False, `.sha is "abc", want == $ENV.SHA`},
		{`$ENV.SHA == .sha`, same, expr.True, `$ENV.SHA == .sha is true`},
		{`.sha != $ENV.SHA`, same, expr.False, `.sha != $ENV.SHA is false`},
		{`!(.sha == $ENV.SHA)`, same, expr.False, `.sha == $ENV.SHA is true`},
		{`.sha contains $ENV.SHA`, same, expr.True, `.sha contains $ENV.SHA is true`},
		{`.list contains $ENV.SHA`, same, expr.True, `.list contains $ENV.SHA is true`},
		{`.sha startswith $ENV.SHA`, other, expr.False, `.sha is "abc", want startswith $ENV.SHA`},
		{`.sha =~ $ENV.PATTERN`, same, expr.True, `.sha =~ $ENV.PATTERN is true`},
		{`.sha !~ $ENV.PATTERN`, same, expr.False, `.sha !~ $ENV.PATTERN is false`},
		{`.sha | test($ENV.PATTERN)`, same, expr.True, `.sha | test($ENV.PATTERN) is true`},
		{`.sha | startswith($ENV.SHA) | not`, same, expr.False, `.sha | startswith($ENV.SHA) is true`},
		{`.sha | IN("x", $ENV.SHA)`, same, expr.True, `.sha | IN("x", $ENV.SHA) is true`},
		{`any(.items[]; .sha == $ENV.SHA)`, same, expr.True, `any(.items[]; .sha == $ENV.SHA) is true at [0]: .sha == $ENV.SHA is true (1 of 1 item)`},
		{`(.sha | ascii_upcase) == ($ENV.SHA | ascii_upcase)`, same, expr.True, `(.sha | ascii_upcase) == ($ENV.SHA | ascii_upcase) is true`},
		{`.n >= ($ENV.MIN | tonumber)`, same, expr.True, `.n >= ($ENV.MIN | tonumber) is true`},
		{`.n >= $ENV.MIN`, same, expr.Unknown, `.n is 50 (a number): >= needs two numbers, or two texts`},
		{`(.none // $ENV.SHA) == "s3"`, same, expr.False, `.none // $ENV.SHA is not shown, want == "s3"`},
		{`($ENV.SHA | length) > 99`, same, expr.False, `$ENV.SHA | length is not shown, want > 99`},
	} {
		x, err := expr.Compile(test.src, environ())
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.doc))})
		why := strings.Join(explain(r, 5), "\n")
		if r.Tri != test.want || why != test.why {
			t.Errorf("%s: have %s (%s), want %s (%s)", test.src, r.Tri, why, test.want, test.why)
		}
		if all := fmt.Sprint(why, r.Explain().Notes, r.Explain(), x); test.doc == same && strings.Contains(all, "s3c") && !strings.Contains(test.src, "s3") {
			t.Errorf("%s shows the value: %s", test.src, all)
		}
		if !x.NamesEnviron() {
			t.Errorf("%s names no variable", test.src)
		}
	}
}

func TestEnvironErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`.sha == $ENV.NONE`:         `column 9: $ENV.NONE is not set: a variable of the shell has to be exported: export NONE`,
		`.sha == $ENV.EMPTY`:        `column 9: $ENV.EMPTY is empty: set it, or write "" for empty text`,
		`.sha == $ENV`:              `column 9: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`.sha == $ENV[0]`:           `column 9: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`.sha == $env.SHA`:          `column 9: there is no variable $env: write $ENV.NAME for a variable of the environment`,
		`.sha == env.SHA`:           `column 9: env.SHA is not quoted: write "env.SHA" for text, .env.SHA for the JSON field, $ENV.SHA for a variable of the environment`,
		`.sha =~ $ENV.OPEN`:         `column 9: the pattern is malformed: the value of $ENV.OPEN: `,
		`.sha | test($ENV.OPEN)`:    `column 13: the pattern is malformed: the value of $ENV.OPEN: `,
		`$ENV.SHA`:                  `column 1: $ENV.SHA is text, and text is always true: compare it with a field: .state == $ENV.SHA`,
		`$ENV.QUESTION`:             `column 1: $ENV.QUESTION is text, and text is always true: compare it with a field: .state == $ENV.QUESTION`,
		`.sha in [$ENV.SHA, "a"]`:   `column 9: a list holds no variables: write .state | IN($ENV.A, $ENV.B), or compare with one after the other`,
		`items.#(sha==$ENV.SHA).ok`: `column 14: a variable cannot stand in a query: use any(.items[]; ...) for that`,
		`.a | has($ENV.SHA) == 1 1`: `column 25: unexpected 1: two conditions need and between them`,
	} {
		_, err := expr.Compile(src, environ())
		e, ok := errors.AsType[*expr.Error](err)
		if !ok || e.Error()+": "+e.Hint != want {
			t.Errorf("%s: have %v, want %s", src, e, want)
		}
		if ok && strings.Contains(e.Error()+e.Hint+e.JQ, "s3cret") {
			t.Errorf("%s shows the value: %v", src, e)
		}
	}
	if _, err := expr.Compile(`.sha == $ENV.SHA is true`); err == nil {
		t.Error("without an environment a variable is found")
	}
}

// A value may be asked for.
func TestEnvironValue(t *testing.T) {
	t.Parallel()
	x, err := expr.CompileValue(`.none // $ENV.SHA`, environ())
	if err != nil {
		t.Fatal(err)
	}
	if have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte("{}"))}).Value().Text(); have != "s3cret" {
		t.Errorf("have %q", have)
	}
}
