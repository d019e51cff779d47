package expr_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/status/expr"
)

// TestLikeGJSON compares random paths with gjson itself. Its traps are kept out
// of the documents: there is no text in them that looks like JSON, and no number
// that text could be taken for.
func TestLikeGJSON(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
	found := 0
	for range *pairs {
		raw, err := json.Marshal(g.plainDocument(4))
		if err != nil {
			t.Fatal(err)
		}
		doc, path := string(raw), g.gjsonPath()
		if gjsonQuirk.MatchString(path) {
			continue
		}
		x, err := expr.CompileValue(path)
		if err != nil {
			t.Errorf("seed %d: %s: %v", seed, path, err)
			continue
		}
		have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Value()
		want := gjson.Get(doc, path)
		switch {
		case have.Kind == expr.KindUnknown: // where gjson says missing, or guesses
		case have.Exists() != (want.Exists() && want.Raw != ""):
			t.Errorf("seed %d: %s on %s is %+v, gjson says %q", seed, path, doc, have, want.Raw)
		case have.Exists():
			found++
			if !reflect.DeepEqual(decode(t, have.Raw), decode(t, want.Raw)) {
				t.Errorf("seed %d: %s on %s is %s, gjson says %s", seed, path, doc, have.Raw, want.Raw)
			}
		}
	}
	if found < *pairs/20 {
		t.Errorf("only %d of %d paths found something", found, *pairs)
	}
}

// gjsonQuirk finds paths that gjson and poll read differently: when nothing
// matches #(...)#.x|y gjson leaves the pipe out; #(==~null) asks a list or an object
// for its key ""; a wildcard tries the next key if the rest does not fit; a pipe
// behind .# is overlooked; and in an order it takes text and
// booleans for numbers, and the other way round.
var gjsonQuirk = regexp.MustCompile(`\)#\..*\||#\( ?[!=]=? ?~|[*?].*#|[*?][.|]a?b?[*?]|\.#\||[<>]=[ \d]|[<>]=? ?[tf]`)

func (g *generator) plainDocument(depth int) any {
	if depth > 0 && g.IntN(5) > 0 {
		if g.IntN(2) == 0 {
			list := []any{}
			for range g.IntN(4) {
				list = append(list, g.plainDocument(depth-1))
			}
			return list
		}
		object := map[string]any{}
		for range 1 + g.IntN(4) {
			object[pick(g, "a", "b", "ab", "x-y")] = g.plainDocument(depth - 1)
		}
		return object
	}
	return pick[any](g, true, false, 1, 2, 3.5, "x", "y", "done", "")
}

func (g *generator) gjsonPath() string {
	path := g.gjsonStep(true)
	for range g.IntN(4) {
		step := g.gjsonStep(false)
		path += pick(g, ".", ".", ".", "|") + step
	}
	return path
}

func (g *generator) gjsonStep(first bool) string {
	switch g.IntN(8) {
	case 0:
		if first {
			return "a"
		}
		return pick(g, "0", "1", "2")
	case 1:
		return "#"
	case 2:
		return g.gjsonQuery(2)
	case 3:
		return g.gjsonQuery(2) + "#"
	case 4:
		return pick(g, "a*", "*b", "a?", "*")
	}
	return pick(g, "a", "b", "ab", "x-y", "a\\b")
}

func (g *generator) gjsonQuery(depth int) string {
	inner := pick(g, "", "a", "b", "a.b", "ab", "@this")
	if depth > 0 && g.IntN(4) == 0 {
		inner = "a." + g.gjsonQuery(depth-1)
	}
	if inner != "" && g.IntN(3) == 0 {
		return "#(" + inner + ")"
	}
	op := pick(g, "==", "!=", "<", "<=", ">", ">=", "=")
	want := pick(g, "1", "2", "3.5", "true", "false")
	switch g.IntN(3) {
	case 0:
		op, want = pick(g, "==", "%", "!%"), pick(g, `"x"`, `"do*"`, `"*"`, `"?"`, `""`, `"d\\one"`)
		if op == "==" {
			want = pick(g, `"x"`, `"done"`)
		}
	case 1:
		op, want = pick(g, "==", "!="), pick(g, "~true", "~false", "~null", "~*")
	}
	space := pick(g, "", " ")
	return fmt.Sprintf("#(%s%s%s%s%s)", inner, space, op, space, want)
}

// TestModifiers compares modifiers on a few documents with gjson.
func TestModifiers(t *testing.T) {
	t.Parallel()
	docs := []string{
		`{"a":[1,[2,[3,[4]]],[]],"b":{"x":1,"y":[2]},"s":"{\"k\":[1]}","n":5,"z":null,"l":[{"a":1},{"b":2},{"a":3}],"g":{"p":[1,2],"q":["a","b"]}}`,
	}
	for _, path := range []string{
		"a.@reverse", "b.@reverse", "a.@flatten", `a.@flatten:{"deep":true}`, "a.@this", "a.@valid.0", "b.@keys", "b.@values", "b.@keys.#", "l.@join",
		`l.@join:{"preserve":true}`, "s.@fromstr", "s.@fromstr.k.0", "b.@tostr", "n.@tostr", "a.@tostr.@fromstr", "g.@group", "a|@reverse|0", "@this.n", "@keys.0",
		"l.#.@keys", "l.#.@values|@flatten", "l.@reverse.0.a",
	} {
		for _, doc := range docs {
			x, err := expr.CompileValue(path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Value()
			want := gjson.Get(doc, path)
			if !have.Exists() || !reflect.DeepEqual(decode(t, have.Raw), decode(t, want.Raw)) {
				t.Errorf("%s on %s is %+v, gjson says %s", path, doc, have, want.Raw)
			}
		}
	}
}
