package expr_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

const lostDoc = `{"state":"running","progress":20,"meta":{"Name":"secret","a b":2,"":3},"items":[{"id":1,"phase":"x"}],"six":6,"seven":7,"z":null,"e":{},"k.l":1}`

func TestHints(t *testing.T) {
	t.Parallel()
	code := 200
	web, command, bare := &expr.Env{Status: &code}, &expr.Env{Exit: &code}, &expr.Env{}
	for _, test := range []struct {
		env       *expr.Env
		src, want string // hints joined by ;;
	}{
		// Members.
		{bare, `.State == "done"`, `did you mean .state?`},
		{bare, `.stat == "done"`, `did you mean .state?`},
		{bare, `.sttae`, `did you mean .state?`},
		{bare, `State == "done"`, `did you mean .state?`},
		{bare, `.meta.name == 1`, `did you mean .meta.Name?`},
		{bare, `meta.name == 1`, `did you mean meta.Name?`},
		{bare, `$json.meta.name == 1`, `did you mean $json.meta.Name?`},
		{bare, `.meta["A B"] == 1`, `did you mean .meta["a b"]?`},
		{bare, `.["K.L"] == 2`, `did you mean .["k.l"]?`},
		{bare, `.data.state == 1`, `the document has: state, progress, meta, items, six, ...`},
		{bare, `.meta.x == 1`, `.meta has: Name, a b`},
		{bare, `.x == 1`, `the document has: state, progress, meta, items, six, ...`},
		{bare, `.items[0].ID == 2`, `did you mean .items[0].id?`},
		{bare, `.items.0.ID == 2`, `did you mean .items.0.id?`},
		{bare, `.item.# > 1`, `did you mean .items?`},
		{bare, `any(.Items[]; .id == 2)`, `did you mean .items?`},
		{bare, `any(.items[]; .ID == 2)`, `did you mean .id?`},
		{bare, `any(.items[]; .q == 2)`, `an element has: id, phase`},
		{bare, `.items | length == 2 and .x == 1`, ``},
		{bare, `.meta | .name == 1`, `did you mean .Name?`},
		{bare, `.meta | .q == 1`, `.meta has: Name, a b`},
		{bare, `.State == 1 or .Progress == 1 or .Six == 1`, `did you mean .state?;;did you mean .progress?`},
		{bare, `.State == 1 and .State == 2`, `did you mean .state?`},
		{bare, `!(.state == "running") and .Six == 1`, `did you mean .six?`},
		// What may be absent.
		{bare, `.State != "done"`, `did you mean .state?`},
		{bare, `.zone != "done"`, `the document has: state, progress, meta, items, six, ...;;if it may be missing: (.zone // null)`},
		{bare, `!items.#(q==1)`, ``},
		{bare, `.state == "done"`, ``},
		{bare, `.z.x == 1`, ``},
		{bare, `.e.x == 1`, ``},
		{bare, `.State != null`, ``},
		{bare, `null != .State`, ``},
		{bare, `exists(.State)`, ``},
		{bare, `(.State // "x") == 1`, ``},
		{bare, `.items[7] == 1`, ``},
		{bare, `items.#(id==5).x == 1`, ``},
		{bare, `.state.x == 1`, ``},
		{bare, `xyz* == 1`, ``},
		// Words of other languages.
		{web, `status == 200`, `$status is the HTTP status`},
		{bare, `status == 200`, `$status is the HTTP status`},
		{bare, `status == "200"`, `$status is the HTTP status`},
		{bare, `status == "done"`, `did you mean .state?`},
		{command, `status == 0`, `$exit is the exit code`},
		{command, `exit == 0`, `$exit is the exit code`},
		{web, `exit == 0`, `$status is the HTTP status`},
		{command, `stdout contains "hi"`, `$stdout is what the command wrote`},
		{web, `stdout contains "hi"`, `$body is the text of the answer`},
		{command, `stderr contains "hi"`, `$stderr is what a command wrote to stderr`},
		{web, `body contains "hi"`, `$body is the text of the answer`},
		{web, `header.X == "1"`, `$header.Retry-After is a header of the answer`},
		{web, `attempt > 3`, `$attempt is the number of the attempt`},
		{web, `elapsed > 3`, `$elapsed is the time since the start, such as $elapsed > 5m`},
		{web, `isjson`, `$isjson asks whether the answer is JSON`},
		{web, `.exit == 0`, `$status is the HTTP status`},
		{web, `first.state == 1`, `an element of a list is written with its index: .[0].state, .items[0].state`},
		{web, `last.state == 1`, `an element of a list is written with its index: .[-1].state, .items[-1].state`},
	} {
		test.env.Doc = expr.NewDoc([]byte(lostDoc))
		have := hintsOf(mustCompile(t, test.src).Eval(test.env), false)
		if have != test.want {
			t.Errorf("%s: hints %q, want %q", test.src, have, test.want)
		}
	}
}

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
