package targets

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	const brace = "a brace itself is written %7B"
	for template, want := range map[string]string{
		"http://h/{}":          "",
		"http://h/{ .a-b_C1 }": "",
		"http://h/{id}":        "braces may be empty, {}, or name a field of an entry, {.id}; did you mean {}, or {.id} for a field of an entry that is an object?",
		"h{}/://h":             "the scheme of the URL has a {; " + brace,
		"http://h/%{}":         "the URL has a { within a character that is escaped with %; " + brace,
		"http://h/%2{}":        "the URL has a { within a character that is escaped with %; " + brace,
		"http://h/%20{}%2F{}x": "",
		"http://h/{.a}/{":      "a { of the URL is not closed; " + brace,
		"http://h/{.a.b}":      "braces may be empty, {}, or name a field of an entry, {.id}; " + brace,
		`http://h/{"a":1}`:     "braces may be empty, {}, or name a field of an entry, {.id}; " + brace,
		"http://h/": "the URL has no {} or {.field}, so all targets would be the same; " +
			"put {} where the text of an entry belongs, or give no URL if each entry is one",
	} {
		_, err := ParseURL(template, false)
		if have := wordsOf(err); have != want {
			t.Errorf("%s: have %q, want %q", template, have, want)
		}
	}
}

// wordsOf returns the message of err, and its hint if err is an [*Error]. It returns "" for nil.
func wordsOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Error() + "; " + e.Hint
	}
	return strings.TrimPrefix(fmt.Sprint(err), "<nil>")
}

// Several entries fill a template at once: joined by commas, or each in a separate argument.
func TestTemplate_Fill(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ template, items, want string }{
		{"http://h/jobs/{}?x=1", "1 2 3", "http://h/jobs/1,2,3?x=1"},
		{"http://h/?ids={}&again={}", "a&b c,d", "http://h/?ids=a%26b,c%2Cd&again=a%26b,c%2Cd"},
		{"http://h/a/{}/b", "x/y .hidden", "http://h/a/x%2Fy,.hidden/b"},
		{"get {} -o json {}", "1 2", `["get" "1" "2" "-o" "json" "1" "2"]`},
		{"get --ids={} -{}", "1 2", `["get" "--ids=1,2" "-1,2"]`},
		{"get {}", "7", `["get" "7"]`},
		{"get {}", "7 -x", "argument 1 of the command begins with -, and would be read as a flag"},
		{"get x{}", "a,b", "argument 1 of the command joins entries by commas, and this one holds a comma"},
		{"get {}", "a,b", `["get" "a,b"]`},
		{"http://h/{}", "..", "in the URL, the text leads out of its place in the path"},
	} {
		parsed, err := ParseURL(test.template, false)
		if !strings.Contains(test.template, "://") {
			parsed, err = ParseCommand(strings.Fields(test.template))
		}
		if err == nil {
			err = parsed.Batch(2)
		}
		if err != nil {
			t.Fatalf("%s: %v", test.template, err)
		}
		url, command, err := parsed.Fill(strings.Fields(test.items))
		have := url
		if err != nil {
			have = err.Error()
		} else if command != nil {
			have = fmt.Sprintf("%q", command)
		}
		if have != test.want {
			t.Errorf("%s with %s: have %q, want %q", test.template, test.items, have, test.want)
		}
	}
}

func TestTemplate_Batch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		template string
		most     int
		want     string
	}{
		{"http://{}/", 1, ""},
		{"http://{}/", 2, "several entries do not fit into the host or the port; "},
		{"http://h:{}/", 2, "several entries do not fit into the host or the port; "},
		{"http://h/{}?{}#{}", 2, ""},
		{"http://h/{.id}", 1, "here an entry is a key, and has no field for {.id}; write {} for the entry itself"},
	} {
		parsed, err := ParseURL(test.template, false)
		if err != nil {
			t.Fatal(err)
		}
		if have := wordsOf(parsed.Batch(test.most)); have != test.want {
			t.Errorf("%s, %d: have %q, want %q", test.template, test.most, have, test.want)
		}
	}
	parsed, err := ParseCommand([]string{"get", "x{}"})
	if err == nil {
		err = parsed.Batch(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, command, err := parsed.Fill([]string{"a,b"}); err != nil || command[1] != "xa,b" {
		t.Errorf("one entry at a time: have %q, %v", command, err)
	}
}
