package expr

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// Steps is what it costs to evaluate an expression and to explain the outcome.
func Steps(x *Expr, env *Env) int {
	e := newEvaluator(x, env)
	v := e.value(x.program.Root)
	r := Result{Tri: v.truth(), expr: x, env: env, value: v}
	return e.steps + r.explain().steps
}

// answers are hostile parts of a document, of about n bytes.
var answers = map[string]func(n int) string{
	"small":       func(int) string { return `7` },
	"ones":        func(n int) string { return list(n, func(int) string { return "1" }) },
	"numbers":     func(n int) string { return list(n, strconv.Itoa) },
	"texts":       func(n int) string { return list(n, func(i int) string { return fmt.Sprintf(`"t%d"`, i) }) },
	"lists":       func(n int) string { return list(n, func(int) string { return "[]" }) },
	"lists of i":  func(n int) string { return list(n, func(i int) string { return fmt.Sprintf(`[%d]`, i) }) },
	"objects":     func(n int) string { return list(n, func(i int) string { return fmt.Sprintf(`{"x":%d,"b":[1]}`, i) }) },
	"keys":        func(n int) string { return object(n, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) },
	"equal keys":  func(n int) string { return object(n, func(int) string { return `"x":{"x":{"y":1}}` }) },
	"nested":      func(n int) string { return wrap(`{"x":`, `1`, `}`, min(n/6, 900)) },
	"nested list": func(n int) string { return wrap(`[`, `1`, `]`, min(n/2, 900)) },
	"digits":      func(n int) string { return "1" + strings.Repeat("0", n) + "1" },
	"zeros":       func(n int) string { return "1." + strings.Repeat("0", n) },
	"digits list": func(n int) string { return "[1" + strings.Repeat("0", n) + "1]" },
	"exponent":    func(n int) string { return "1e" + strings.Repeat("9", n) },
	"text":        func(n int) string { return `"` + strings.Repeat("a", n) + `"` },
	"quotes":      func(n int) string { return `"` + strings.Repeat(`\"`, n/2) + `"` },
	"slashes":     func(n int) string { return `["` + strings.Repeat(`\\`, n/2) + `"]` },
	"long key":    func(n int) string { return `{"` + strings.Repeat("x", n/2) + `":` + list(n/2, strconv.Itoa) + `}` },
}

func list(n int, element func(i int) string) string   { return "[" + repeated(n, element) + "]" }
func object(n int, element func(i int) string) string { return "{" + repeated(n, element) + "}" }

func wrap(open, inner, end string, times int) string {
	return strings.Repeat(open, times) + inner + strings.Repeat(end, times)
}

// repeated joins elements by commas until there are n bytes.
func repeated(n int, element func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element(i))
	}
	return b.String()
}

// costly are expressions of which each has something in it that was, or might be,
// done again for each element of a list.
var costly = []string{
	`any(.a[]; . > $json.b)`, `any(.a[]; .x > $json.b.x)`, `any($json.a[]; . == $json.b)`, `any(.a[]; $json.b == .)`,
	`any(.a[]; any($json.a[]; . == "none"))`, `any(.a[]; any($json.a[]; any($json.b[]; . == $json.a[-1])))`,
	`any(.a[]; any($json.b[]; .x == $json.a.x))`, `any(.a[]; any(.b[]; . == $json.b))`, `.a | any(. == $json.b)`,
	`any(.a[]; . in $json.b)`, `any(.a[]; $json.b contains .)`, `any(.a[]; . contains $json.b)`, `any(.a[]; $json contains .)`,
	`any(.a[]; $body contains .)`, `any(.a[]; $body == .)`, `any(.a[]; $body startswith .)`, `any(.a[]; $stderr endswith .)`,
	`any(.a[]; $body =~ "x+y+z")`, `any(.a[]; . =~ "(x+)+y")`, `any(.a[]; $header.X == .)`, `any(.a[]; $isjson and .x)`,
	`any(.a[]; ($json.b | length) == .)`, `any(.a[]; ($json.b | tostring) == .)`, `any(.a[]; . | tostring | . == $json.b)`,
	`any(.a[]; .x | . == $json.b)`, `any(.a[]; .x // $json.b | . == 1)`, `any(.a[]; exists($json.b.c.d))`,
	`any(.a[]; $json.b.x.x.x.x == .)`, `any(.a[]; ($json | .b | .x) == .)`, `any(.a[]; $json.b.@values == .)`,
	`any(.a[]; $json.b.# == .)`, `any(.a[]; $json.b.#(x==1).x == .)`, `any(.a[]; $json.b.#(x>1)#|# == .)`,
	`any(.a[]; ..0.b == .)`, `any(.a[]; ..# == .)`, `any(.a[]; $json.b[-1] == . and $json.b[100] == .)`,
	`count(.a[]; . != $json.b) == 0`, `all(.a[]; count($json.b[]; . != 1) > 0)`, `any(.a[].b[]; . == $json.b)`,
	`any($json.a[]; any($json.b[]; . == 1) or any($json.b[]; . == $json.a))`,
	`.a == .b`, `.a < .b`, `.a in .b`, `.a contains .b`, `.a | tostring | fromjson | tostring | length > 1`,
	`.a.x.x.x.x.x.x == 1`, `.a.x.y.x.y == 1`, `a.*.*.* == 1`, `a.*x*x*y == 1`, `a.x*.x*.z == 1`, `a.k*9.* == 2`, `a.*?*?*z == 1`,
	`.a[0][0][0][0] == 1`, `.a[-1][-1] == 1`, `.a[-1].x == 2`, `.a[999999] == 2`, `a.#(x%"*a*b").x == 1`, `a.#(%"*a*a*a*b") == 1`,
	`a.#(b.#(x==1)).x == 2`, `a.#.b.#.x.@this|# == 1`, `a.#(x>=0)#.b|#(#==1)#|# == 2`, `a.#.#.#|# == 1`,
	`.a.@reverse.@reverse == .a`, `.a.@flatten:{"deep":true}.@reverse == 1`, `.a.@keys|# == 1`, `.a.@values|#(>1) == 1`,
	`.a.@group.@reverse|# == 1`, `.a.@join == 1`, `.a.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr == 1`,
	`.a | .@tostr.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr | .@tostr.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr == 1`,
	`any(.a[]; . | .@tostr.@tostr.@tostr.@tostr.@tostr.@tostr.@tostr | .@tostr.@tostr.@tostr.@tostr.@tostr.@tostr == 1)`,
	`any(.a[]; .b.@group.@tostr == $json.b.@group.@tostr)`, `.a | has("x")`, `.a | ascii_upcase | ascii_downcase | test("^A*b")`,
	`.a | tonumber == 1`, `any(.a[]; (. | tonumber) >= $json.b)`, `.a | IN([], [1], {"x":1}, 1)`, `.a in [[[]], [[]], [[]], {}, 10, 1e99]`,
	`(.a == 1 and (.a == 2 or (.a == 3 and (.a == 4 or (.a == 5 and (.a == 6 or (.a == 7 and (.a == 8 or .a == 9))))))))`,
	`not (not (not (not (.a != 1 or (.a == 2 and (.a == 3 or (.a == 4 and .a != 5)))))))`,
}

// TestLinear doubles documents twice and sees that the steps grow no faster.
func TestLinear(t *testing.T) {
	t.Parallel()
	const size, times = 512, 4
	for name, a := range answers {
		for _, other := range []string{name, "numbers", "text", "digits", "digits list"} {
			b := answers[other]
			for _, source := range costly {
				if other != name && !strings.Contains(source, ".b") {
					continue
				}
				x, err := CompileValue(source)
				if err != nil {
					t.Fatalf("%s: %v", source, err)
				}
				steps := func(n int) int {
					return Steps(x, answerEnv(fmt.Sprintf(`{"a":%s,"b":%s}`, a(n), b(n))))
				}
				few, many := steps(size), steps(times*size)
				if limit := 5 * times * few / 4; many > limit && many > 1<<16 {
					t.Errorf("%s of %s and %s: %d steps, %d for %d times the document", source, name, other, few, many, times)
				}
			}
		}
	}
}

func answerEnv(body string) *Env {
	return &Env{
		Doc: NewDoc([]byte(body)), Body: []byte(body), Stderr: []byte(body), Header: map[string][]string{"X": {body}},
		Exit: new(1), Status: new(503),
	}
}

// TestFixed evaluates what does not depend on the element, whatever it is nested
// in, and sees that it is the same as for each element.
func TestFixed(t *testing.T) {
	t.Parallel()
	const doc = `{"a":[1,2,[3],{"x":4}],"b":{"x":4,"y":[1,5]},"n":2,"s":"t1 t2"}`
	for source, want := range map[string]Tri{
		`any(.a[]; . == $json.n)`:                                      True,
		`any(.a[]; .x == $json.b.x)`:                                   True,
		`any(.a[]; . == $json.b.y)`:                                    False,
		`any(.a[]; any($json.b.y[]; . == 5))`:                          True,
		`all(.a[]; any($json.b.y[]; . == 6))`:                          False,
		`any(.a[]; any($json.b.y[]; . == $json.n) or . == $json.n)`:    True,
		`any(.a[]; . | . == $json.n)`:                                  True,
		`any(.a[]; $json | .n == 2)`:                                   True,
		`count(.a[]; $json.n == 2) == 4`:                               True,
		`any(.a[]; . in $json.b.y)`:                                    True,
		`any(.a[]; $json.a contains .)`:                                True,
		`any(.a[]; $json.s contains .)`:                                Unknown,
		`any(.a[]; not ($json.n < "x"))`:                               Unknown,
		`any(.a[]; $body contains "t1" and . == 2)`:                    True,
		`any(.a[]; exists($json.b) and .x == 4 and exists(.x))`:        True,
		`any(.a[]; ($json.none // $json.n) == .)`:                      True,
		`any(.a[]; ($json.b | has("y")) and .x)`:                       True,
		`any(.b[]; any(.[]; . == $json.b.y[-1]))`:                      True,
		`.b | any(. == $json.b.y)`:                                     True,
		`any(.a[]; count($json.a[]; $json.n == 2) == 4 and . == 1)`:    True,
		`any(.a[]; any($json.a[]; . == $json.n) and any(.[]; . == 3))`: True,
	} {
		x, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		r := x.Eval(answerEnv(doc))
		if r.Tri != want {
			t.Errorf("%s is %v, want %v: %q", source, r.Tri, want, r.Explain(2))
		}
	}
}

// A countdown is a context that is cancelled when it has been looked at a number
// of times.
type countdown struct {
	context.Context
	left int
	done chan struct{}
}

func newCountdown(left int) *countdown {
	return &countdown{context.Background(), left, make(chan struct{})}
}

func (c *countdown) Err() error {
	c.left--
	if c.left == 0 {
		close(c.done)
	}
	if c.left >= 0 {
		return nil
	}
	return context.Canceled
}

func (c *countdown) Done() <-chan struct{} { return c.done }

// TestAbandoned cancels the context of evaluations that take long.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	const elements = 200_000 // more than quickSteps
	doc := NewDoc([]byte("[" + strings.Repeat(`"x",`, elements) + `"x"]`))
	for _, test := range []struct {
		looks int // before the context is done
		want  Tri
		steps int // at most
	}{
		{0, Unknown, quickSteps + lookSteps},
		{20, Unknown, quickSteps + 22*lookSteps},
		{1 << 20, False, math.MaxInt},
	} {
		x, err := Compile(`any(.[]; . =~ "y$") or any(.[]; . == "y")`)
		if err != nil {
			t.Fatal(err)
		}
		env := &Env{Doc: doc, Context: newCountdown(test.looks)}
		r := x.Eval(env)
		if r.Tri != test.want || r.Abandoned() != (test.want == Unknown) {
			t.Errorf("after %d looks: %v, abandoned is %v", test.looks, r.Tri, r.Abandoned())
		}
		if lines := r.Explain(9); r.Abandoned() && (len(lines) != 1 || lines[0] != r.Value().Reason) {
			t.Errorf("after %d looks: %q, %+v", test.looks, lines, r.Value())
		}
		e := newEvaluator(x, &Env{Doc: doc, Context: newCountdown(test.looks)})
		func() {
			defer func() { recover() }()
			e.value(x.program.Root)
		}()
		if e.steps > test.steps {
			t.Errorf("after %d looks: abandoned after %d steps, want %d", test.looks, e.steps, test.steps)
		}
	}
}

// TestQuick evaluates what is quick although the context is done.
func TestQuick(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	doc := NewDoc([]byte("[" + strings.Repeat(`"x",`, 1000) + `1]`))
	for _, source := range []string{`any(.[]; . == 1)`, `$body =~ "^xx$" or .# == 1001`, `$body =~ "^xxx"`} {
		x, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		r := x.Eval(&Env{Doc: doc, Body: []byte(strings.Repeat("x", 100_000)), Context: ctx})
		if !r.Matched() {
			t.Errorf("%s is %v: %q", source, r.Tri, r.Explain(2))
		}
	}
}

// TestExplanationAbandoned cancels the context while an outcome is explained: it
// stays, and what is known of it is told.
func TestExplanationAbandoned(t *testing.T) {
	t.Parallel()
	doc := NewDoc([]byte("[" + strings.Repeat(`"x",`, 200_000) + `1]`))
	for source, want := range map[string]string{
		`any(.[]; . < 1)`:  `any(.[]; . < 1) is unknown: . is a string, which cannot be ordered against a number`,
		`all(.[]; . != 2)`: `all(.[]; . != 2) is true; there was no time to find out why`,
	} {
		x, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := x.Eval(&Env{Doc: doc, Context: ctx})
		cancel()
		if lines := r.Explain(2); r.Abandoned() || len(lines) != 1 || lines[0] != want {
			t.Errorf("%s is explained by %q, want %q", source, lines, want)
		}
	}
}

// TestMatchAbandoned cancels the context while a pattern is matched, which can
// only be left to itself.
func TestMatchAbandoned(t *testing.T) {
	t.Parallel()
	x, err := Compile(`$body =~ "(x+x+)+y"`)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Eval(&Env{Body: []byte(strings.Repeat("x", 20<<20)), Context: newCountdown(1)})
	if !r.Abandoned() {
		t.Errorf("it is %v", r.Tri)
	}
}

// TestWildcardAbandoned looks at the context while a long text is compared with a
// pattern that nearly fits everywhere.
func TestWildcardAbandoned(t *testing.T) {
	t.Parallel()
	pattern := "*" + strings.Repeat("a", 1000) + "b"
	body := []byte(`["` + strings.Repeat("a", 100_000) + `"]`)
	for _, source := range []string{`#(%"` + pattern + `")`, `0.` + pattern} {
		x, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if source[0] == '0' {
			body = []byte(`[{` + strings.Trim(string(body), "[]") + `:1}]`)
		}
		if r := x.Eval(&Env{Doc: NewDoc(body), Context: newCountdown(0)}); !r.Abandoned() {
			t.Errorf("%.9s is %v", source, r.Tri)
		}
	}
}

// TestLinearInDepth nests conditions deeper, and sees that the steps to explain
// them grow no faster.
func TestLinearInDepth(t *testing.T) {
	t.Parallel()
	const depth, times = 20, 4
	for _, inner := range []string{"%s", "any(.list[]; %s)"} {
		steps := func(depth int) int {
			x, err := Compile(fmt.Sprintf(inner, wrap(".a == 1 or (.a == 2 and (", ".a", "))", depth)))
			if err != nil {
				t.Fatal(err)
			}
			return Steps(x, answerEnv(`{"a":2,"list":[{"a":2}]}`))
		}
		if few, many := steps(depth), steps(times*depth); many > 3*times*few/2 {
			t.Errorf("%s: %d steps, %d for %d times the depth", inner, few, many, times)
		}
	}
}
