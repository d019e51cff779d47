package expr_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

const lostDoc = `{"state":"running","progress":20,"meta":{"Name":"secret","a b":2,"":3},"items":[{"id":1,"phase":"x"}],"six":6,"seven":7,"z":null,"e":{},"k.l":1}`

// A rule for what is usually absent is hinted at only where a name is nearly right.
func TestHintsNearOnly(t *testing.T) {
	t.Parallel()
	env := &expr.Env{Doc: expr.NewDoc([]byte(lostDoc))}
	for src, want := range map[string]string{`.error`: "", `.failed.x == 1`: "", `.State == "failed"`: "did you mean .state?"} {
		if have := hintsOf(mustCompile(t, src).Eval(env), true); have != want {
			t.Errorf("%s: hints %q, want %q", src, have, want)
		}
	}
}

func TestHintsLines(t *testing.T) {
	t.Parallel()
	env := &expr.Env{Doc: expr.NewDoc([]byte("{\"a\":1}\n{\"state\":2}\n"))}
	for src, want := range map[string]string{`..1.State == 1`: "did you mean ..1.state?", `..0.x == 1`: "..0 has: a", `..7.x == 1`: ""} {
		if have := hintsOf(mustCompile(t, src).Eval(env), false); have != want {
			t.Errorf("%s: hints %q, want %q", src, have, want)
		}
	}
}

func TestHintsUnreadable(t *testing.T) {
	t.Parallel()
	for _, doc := range []*expr.Doc{nil, expr.NewDoc(nil), expr.NewDoc([]byte("<html>")), expr.NewDoc([]byte("[1]")), expr.NewDoc([]byte("{}\n{}")), expr.Unreadable("cut")} {
		env := &expr.Env{Doc: doc}
		state := ""
		if doc != nil && string(doc.Bytes()) == "<html>" {
			state = `$body is the text of an answer that is not JSON: $body contains "done"`
		}
		for src, want := range map[string]string{`.state == 1`: state, `status == 200`: "$status is the HTTP status", `first.x == 1`: "an element of a list is written with its index: .[0].x, .items[0].x"} {
			if have := hintsOf(mustCompile(t, src).Eval(env), false); have != want {
				t.Errorf("%s: hints %q, want %q", src, have, want)
			}
		}
	}
	var zero expr.Result
	if hintsOf(zero, false) != "" {
		t.Error("a zero result has hints")
	}
}

// Names come from outside: they are made harmless, cut, and not compared without
// bound; values are never shown.
func TestHintsHostile(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&many, `,"%s%d":1`, strings.Repeat("n", 50), i)
	}
	long := strings.Repeat("l", 41)
	for _, test := range []struct{ src, doc, want string }{
		{`.x == 1`, `{"a\u001b[2J\u202eb\nc":"secret"}`, "the document has: a\ufffd[2J\ufffdb c"},
		{`.x == 1`, `{"` + long + `":"secret"}`, "the document has: " + long[:40] + "..."},
		{`.` + long[:39] + `m == 1`, `{"` + long + `":1,"` + long[:40] + `":"secret"}`, "did you mean ." + long[:40] + "?"},
		{`.state == 1`, `{"a":1` + many.String() + `,"state2":1}`, "the document has: a, " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., ..."},
		{`.` + strings.ToUpper(long) + ` == 1`, `{"` + long + `":"secret"}`, "the document has: " + long[:40] + "..."},
		{`.ab == 1`, `{"ac":1}`, "the document has: ac"},
	} {
		have := hintsOf(mustCompile(t, test.src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.doc))}), false)
		if have != test.want {
			t.Errorf("%s: hints %q, want %q", test.src, have, test.want)
		}
	}
	env := &expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Header: http.Header{"X": {`{"token":1}`}}}
	if have := hintsOf(mustCompile(t, `$header.X | fromjson | .Token == 2`).Eval(env), false); have != "" {
		t.Errorf("a header is shown: %q", have)
	}
}
