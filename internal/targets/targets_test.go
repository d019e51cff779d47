package targets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read reads a text with the flags of the tests; template may be "", a URL, or the words
// of a command.
func read(t testing.TB, text, template string) *File {
	t.Helper()
	c := Config{Name: "targets.yaml", Flags: someFlags(), Synonyms: map[string]string{"fail-if": "error-if"}}
	if template != "" {
		var err error
		if c.Template, err = ParseURL(template); !strings.Contains(template, "://") {
			c.Template, err = ParseCommand(strings.Fields(template))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Read([]byte(text), c)
}

// words describes what a file says, an entry a line.
func (f *File) words() string {
	var b strings.Builder
	for _, e := range f.Entries {
		fmt.Fprintf(&b, "%d:%d", e.Line, e.Column)
		if e.Name != "" {
			fmt.Fprintf(&b, " %s:", e.Name)
		}
		if e.URL != "" {
			fmt.Fprintf(&b, " %s", e.URL)
		} else {
			fmt.Fprintf(&b, " %q", e.Command)
		}
		for _, s := range e.Settings {
			fmt.Fprintf(&b, " %s=%q", s.Flag, s.Texts())
		}
		b.WriteByte('\n')
	}
	for _, r := range f.Repeats {
		fmt.Fprintf(&b, "line %d repeats line %d\n", r.Line, r.First)
	}
	if err := f.Err(); err != nil {
		for _, p := range err.(*Problems).Shown {
			fmt.Fprintf(&b, "%s\n", strings.TrimPrefix(p.Error(), "targets.yaml:"))
		}
	}
	return b.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, template, text, want string }{
		{"empty", "", "", ""},
		{"nothing but comments and blank lines", "", "# a\n\n  \t\r\n  # b", ""},
		{"plain lines", "", "http://a\nhttps://b/x#y?\ntcp://c:1\n", "1:1 http://a\n2:1 https://b/x#y?\n3:1 tcp://c:1\n"},
		{"no last newline, CRLF, space, a BOM", "", "\ufeff# x\r\n\r\n \thttp://a \t\r\nhttp://b", "3:3 http://a\n4:1 http://b\n"},
		{"items", "http://h/{}", "a\nb c\n17\n", "1:1 a: http://h/a\n2:1 b c: http://h/b%20c\n3:1 17: http://h/17\n"},
		{"a comment is a line", "http://h/{}", "a#b\na # b\n#c\n", "1:1 a#b: http://h/a%23b\n2:1 a # b: http://h/a%20%23%20b\n"},
		{"items for a command", "kubectl get {} -o json {}", "job/a\n", "1:1 job/a: [\"kubectl\" \"get\" \"job/a\" \"-o\" \"json\" \"job/a\"]\n"},
		{"items that are no flags", "get --name={} -{}", "-x\n", "1:1 -x: [\"get\" \"--name=-x\" \"--x\"]\n"},
		{"an item that would be a flag", "get {}", "a\n--all\n", "1:1 a: [\"get\" \"a\"]\n2:1: argument 1 of the command begins with -, and would be read as a flag\n"},
		{"a plain file of hyphens is not YAML", "get x{}", "-a\n--\n", "1:1 -a: [\"get\" \"x-a\"]\n2:1 --: [\"get\" \"x--\"]\n"},
		{"NDJSON", "", `{"url":"http://a","name":"x","until":[".a==\"b\"",".c"],"timeout":"1m"}` + "\n\n" + `{"command":["true","a b"],"strict":true}`,
			"1:1 x: http://a until=[\".a==\\\"b\\\"\" \".c\"] timeout=[\"1m\"]\n3:1 [\"true\" \"a b\"] strict=[\"true\"]\n"},
		{"JSON over several lines, without a list", "", "{\n \"url\": \"http://a\"\n}\n{\n}", "1:1 http://a\n4:1: the entry has neither a url nor a command\n"},
		{"NDJSON of texts", "http://h/{}", "\"a\"\n\"\\u00e9\\/\"\n", "1:1 a: http://h/a\n2:1 é/: http://h/%C3%A9%2F\n"},
		{"a JSON list", "", "[\"http://a\",\n {\"url\":\"http://b\",\"max-attempts\":010e1}]", "1:2 http://a\n2:36: invalid character '1' after object key:value pair\n"},
		{"numbers in JSON stay as they are", "http://h/{}", `[1, 1e3, {"name":1.50,"max-attempts":3}, -0]`,
			"1:2 1: http://h/1\n1:5 1e3: http://h/1e3\n1:10 1.50: http://h/1.50 max-attempts=[\"3\"]\n1:42 -0: http://h/-0\n"},
		{"YAML", "", "# all\n- http://a\n- name: x\n  url: http://b # b\n  until: .state==\"done\"\n  error-if: [.a, '.b']\n- command: [sh, -c, 'echo a']\n",
			"2:3 http://a\n3:3 x: http://b until=[\".state==\\\"done\\\"\"] error-if=[\".a\" \".b\"]\n7:3 [\"sh\" \"-c\" \"echo a\"]\n"},
		{"YAML that is indented, with a mark at its start", "", "---\n  - http://a\n  - http://b\n...\n", "2:5 http://a\n3:5 http://b\n"},
		{"YAML values stay as they are written", "http://h/{}", "- 010\n- 1e3\n- yes\n- 2026-11-21\n- 0x1F\n- 1_000\n- 12:30:45\n- .inf\n- =\n",
			"1:3 010: http://h/010\n2:3 1e3: http://h/1e3\n3:3 yes: http://h/yes\n4:3 2026-11-21: http://h/2026-11-21\n5:3 0x1F: http://h/0x1F\n6:3 1_000: http://h/1_000\n7:3 12:30:45: http://h/12:30:45\n8:3 .inf: http://h/.inf\n9:3 =: http://h/=\n"},
		{"conditions as they are written", "", "- url: http://a\n  until: .n==010\n  error-if: .a == \"b\" or .c\n  timeout: 010\n  max-attempts: 1e3\n",
			"1:3 http://a until=[\".n==010\"] error-if=[\".a == \\\"b\\\" or .c\"] timeout=[\"010\"] max-attempts=[\"1e3\"]\n"},
		{"switches", "", "- {url: 'http://a', strict: true}\n- {url: 'http://b', strict: No}\n- {url: 'http://c', strict: maybe}\n",
			"1:3 http://a strict=[\"true\"]\n2:3 http://b strict=[\"false\"]\n3:29: strict: the value of a switch is true or false\n"},
		{"anchors and aliases", "", "- url: &u http://a\n  until: &c [.a, .b]\n  timeout: &t 1m\n- url: *u\n  until: *c\n  timeout: !!str 2m\n- url: http://b\n  timeout: *t\n",
			"1:3 http://a until=[\".a\" \".b\"] timeout=[\"1m\"]\n4:3 http://a until=[\".a\" \".b\"] timeout=[\"2m\"]\n7:3 http://b timeout=[\"1m\"]\n"},
		{"an alias of its own list", "", "- &a [*a]\n- url: &b [*b]\n", "1:3: a text or an object is needed here, and this is a list\n2:8: url: a text is needed here, and this is a list\n"},
		{"fields", "http://{.region}.h/{.id}/{}?q={.q}", "- {name: a/b, id: 7, region: eu-1, q: 'x&y'}\n", "1:3 a/b: http://eu-1.h/7/a%2Fb?q=x%26y\n"},
		{"a field beside a flag", "http://h/{.id}", "- {id: 7, timeout: 3m}\n", "1:3 http://h/7 timeout=[\"3m\"]\n"},
		{"a flag of the whole may be a field", "http://h/{.user}", "- {user: 7}\n", "1:3 http://h/7\n"},
		{"a field that is a flag", "http://h/{.timeout}", "- {timeout: 7}\n",
			"1:3: the entry has no timeout, which {.timeout} stands for\n1:4: timeout: it could be the field {.timeout} of the URL or the flag --timeout\n"},
		{"a field that is missing", "http://h/{.id}", "- {name: x}\n- y\n", "1:3: the entry has no id, which {.id} stands for\n2:3: the entry is a text, and {.id} needs an object with that field\n"},
		{"a name that is missing", "get {}", "- {timeout: 1m}\n- {name: x}\n", "2:3 x: [\"get\" \"x\"]\n1:3: the entry has no name, which {} stands for\n"},
		{"the same again", "", "http://a\nhttp://b\nhttp://a\n# x\nhttp://a", "1:1 http://a\n2:1 http://b\nline 3 repeats line 1\nline 5 repeats line 1\n"},
		{"the same in another order", "", "- {url: 'http://a', timeout: 1m, strict: yes}\n- strict: on\n  url: http://a\n  timeout: '1m'\n- {url: 'http://a', timeout: 1m}\n",
			"1:3 http://a timeout=[\"1m\"] strict=[\"true\"]\n5:3 http://a timeout=[\"1m\"]\nline 2 repeats line 1\n"},
		{"settings that differ by one thing", "", "- {url: 'http://a', until: x}\n- {url: 'http://a', error-if: x}\n- {url: 'http://a', until: [x, y]}\n- {url: 'http://a', until: xy}\n- {url: 'http://a', until: [y, x]}\n",
			"1:3 http://a until=[\"x\"]\n2:3 http://a error-if=[\"x\"]\n3:3 http://a until=[\"x\" \"y\"]\n4:3 http://a until=[\"xy\"]\n5:3 http://a until=[\"y\" \"x\"]\n"},
		{"commands that differ", "", "- command: [a, b c]\n- command: [a, b, c]\n- command: [a, 'b c']\n", "1:3 [\"a\" \"b c\"]\n2:3 [\"a\" \"b\" \"c\"]\nline 3 repeats line 1\n"},
		{"an entry below its hyphen", "", "-\n  url: http://a\n", "2:3 http://a\n"},
		{"items like keys, but for the first", "http://h/{}", "a\nname: b\n", "1:1 a: http://h/a\n2:1 name: b: http://h/name:%20b\n"},
		{"a control character at the start", "http://h/{}", "\x01a\nb", "2:1 b: http://h/b\n1:1: the text holds a control character\n"},
		{"what may be empty", "", "- {url: 'http://a', data: ''}\n- {url: 'http://a', until: ''}\n", "1:3 http://a data=[\"\"]\n2:29: until: the text is empty\n"},
		{"an error in a list ends it", "", "[\n{\"url\":\"http://a\"}\n{\"url\":\"http://b\"},\n{}\n]", "2:1 http://a\n3:1: expected comma after array element\n"},
		{"after what is nested too deep", "", `[{"url":{"a":[["]",{"b":"\"}"}]]},"x":1},"http://a"]`,
			"1:42 http://a\n1:9: url: a text is needed here, and this is an object\n1:36: x: an entry has no such key\n"},
		{"an alias of an entry beside a broken one", "", "- &a http://a\n- url: *a\n- @\n", "1:3 http://a\n3:3: no text begins with this character\n"},
		{"one name for two targets", "", "- {name: x, url: 'http://a'}\n- {name: x, url: 'http://b'}\n- {name: x, url: 'http://a'}\n- {name: y, url: 'http://a'}\n",
			"1:3 x: http://a\n4:3 y: http://a\nline 3 repeats line 1\n2:3: the target of line 1 has the same name, and is not the same\n"},
		{"one item for two targets", "http://h/{}", "- a\n- {name: a, timeout: 1m}\n", "1:3 a: http://h/a\n2:3: the target of line 1 has the same name, and is not the same\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, read(t, test.text, test.template).words()); diff != "" {
				t.Errorf("%q (-want +have):\n%s", test.text, diff)
			}
		})
	}
}

// The formats say the same.
func TestRead_formats(t *testing.T) {
	t.Parallel()
	const want = "tcp://h:1 []|a http://b [until[.x==\"y\" .z]timeout[1m]strict[true]]|[cat -n]|"
	for _, text := range []string{
		"- tcp://h:1\n- name: a\n  url: http://b\n  until:\n  - .x==\"y\"\n  - |-\n    .z\n  timeout: 1m\n  strict: yes\n- command: [cat, '-n']\n",
		`["tcp://h:1",{"name":"a","url":"http:\/\/b","until":[".x==\"y\"",".z"],"timeout":"1m","strict":true},{"command":["cat","-n"]}]`,
		"\"tcp://h:1\"\n" + `{"name":"a","url":"http://b","until":[".x==\"\u0079\"",".z"],"timeout":"1m","strict":"true"}` + "\r\n" + `{"command":["cat","-n"]}`,
	} {
		f, have := read(t, text, ""), ""
		for _, e := range f.Entries {
			if e.Command != nil {
				have += fmt.Sprint(e.Command) + "|"
				continue
			}
			settings := ""
			for _, s := range e.Settings {
				settings += s.Flag + fmt.Sprint(s.Texts())
			}
			have += strings.TrimSpace(e.Name+" "+e.URL) + " [" + settings + "]|"
		}
		if have != want || f.Err() != nil {
			t.Errorf("%s\nhave %s, want %s; %v", text, have, want, f.Err())
		}
	}
}

// A list of a million aliases is refused before it takes memory, and so is all else that
// is too much.
func TestRead_limits(t *testing.T) {
	t.Parallel()
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	values := "[" + many("a,", 999) + "a]"
	for _, test := range []struct{ name, text, want string }{
		{"a bomb", "- &a [" + many("x,", 9) + "]\n- &b [" + many("*a,", 9) + "]\n- &c [" + many("*b,", 9) + "]\n- {url: 'http://h', until: *c}\n", "a list"},
		{"aliases", "- {url: 'http://h', until: &a " + values + "}\n" + many("- {url: 'http://h', until: *a}\n", 200), "stand for too many values"},
		{"aliases of entries", "- &a {url: 'http://h', until: " + values + "}\n" + many("- *a\n", 200), "stand for too many values"},
		{"a list of 1,000 values", "- {url: 'http://h', until: " + values + "}\n", ""},
		{"a list of 1,001 values", "- {url: 'http://h', until: [" + many("a,", 1001) + "]}\n", "until: it has more than 1000 values"},
		{"the same in JSON", `{"url":"http://h","until":[` + many(`"a",`, 1000) + `1]}`, "until: it has more than 1000 values"},
		{"keys", "- {" + many("x", 2) + ": 1, " + strings.Join(numbered("k%d: 1", 100), ", ") + "}\n", "more than 100 keys"},
		{"a long key", "- {url: http://h, ? " + many("x", 65) + " : 1}", "targets.yaml:1:21: an entry has no such key"},
		{"nesting", "- " + many("[", 20000), "no YAML"},
		{"nesting in an entry", "- url: " + many("[", 500) + many("]", 500), "url: a text is needed here, and this is a list"},
		{"nesting in JSON", many("[", 20000), "exceeded max depth"},
		{"nesting in a JSON entry", `{"url":{"a":` + many("[", 500) + many("]", 500) + `}}`, "url: a text is needed here, and this is an object"},
		{"a long line", "http://h/" + many("a", 70000), "the text is longer than 64 KiB"},
		{"a long name", "- {url: 'http://h', name: " + many("a", 70000) + "}", "name: the text is longer than 64 KiB"},
		{"a large YAML file", "- a\n" + many("#", 4<<20), "more than 4 MiB is not read"},
		{"a large file", many("#", MaxSize+1), "larger than 16 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := read(t, test.text, "")
			if err := fmt.Sprint(f.Err()); test.want == "" && f.Err() != nil || !strings.Contains(err, test.want) || len(err) > 300 {
				t.Errorf("have %.400s, want %s", err, test.want)
			}
		})
	}
}

func TestRead_manyEntries(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"http://a\nhttp://b\nhttp://c", "- http://a\n- http://b\n- http://c", `["http://a","http://b","http://c"]`, `"http://a" "http://b" "http://c"`} {
		f := read(t, "", "")
		f.text, f.count = text, maxEntries-2
		f.readFormat()
		if have, want := f.words(), "the file has more than 1,000,000 entries"; len(f.Entries) != 2 || !strings.Contains(have, want) {
			t.Errorf("%s\nhave %s, want 2 entries and %s", text, have, want)
		}
	}
}

func numbered(format string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return list
}

// What no reader can do without is refused for the file as a whole.
func TestRead_notText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfea\x00\n\x00":                          "targets.yaml: it is UTF-16, and only UTF-8 is read",
		"\xfe\xff\x00a":                                "targets.yaml: it is UTF-16, and only UTF-8 is read",
		"http://a\nhttp://é\xff\xff\x00\n\x00\n":       "targets.yaml:2:9: a byte that is not UTF-8 (and 1 more)",
		"http://a\x00http://b\n":                       "targets.yaml:1:9: a NUL byte, which no text holds",
		"- http://a\r- http://b\n":                     "targets.yaml:1:11: a line ends with a character that is no newline",
		"- http://a\r- \"http://b\u2028\"\n":           "targets.yaml:1:11: a line ends with a character that is no newline",
		"- http://a\r\n- \"http://b\u2028\"\r\n":       "targets.yaml:2:12: a line ends with a character that is no newline",
		"- http://a\n---\n- http://b\n":                "targets.yaml:2:1: a second document begins",
		"%YAML 1.1\n---\nname: a\n":                    "targets.yaml:3:1: the file is a list, and this is none",
		"name: a\nurl: http://b\n":                     "targets.yaml:1:1: the file is a list, and this line is a key of an object",
		"targets:\n- http://b\n":                       "targets.yaml:1:1: the file is a list, and this line is a key of an object",
		"http://a\n- http://b\n{}\n":                   "targets.yaml:2:1: this line is an entry of another format than the lines before it (and 1 more)",
		"[\"http://a\"] [\"http://b\"]":                "targets.yaml:1:14: the list has ended, and more follows",
		"[\"http://a\"\n \"http://b\"]":                "targets.yaml:2:2: expected comma after array element",
		"[\"http://a\",]":                              "targets.yaml:1:13: invalid character ']' after a comma",
		"[\"http://a\",\n\n":                           "targets.yaml:1:12: the file ends before this is closed",
		"{\"url\":\"http://a\"\n":                      "targets.yaml:1:17: the file ends before this is closed",
		"{\"url\":\"http://a":                          "targets.yaml:1:16: the file ends before this is closed",
		"{'url':1}\n{\"url\":tru}\n{\"url\" 1}\n":      "targets.yaml:1:2: invalid character '\\'' (and 2 more)",
		"\"\\ud800\"\n":                                "targets.yaml:1:2: the entry is no URL, and there is none that it could fill",
		"\"http://a/\\u0000\"\n":                       "targets.yaml:1:11: the text holds a control character",
		"{\"url\":\"http://h\",\"data\":\"a\\u0000\"}": "targets.yaml:1:28: data: the text holds a NUL byte",
	} {
		if have := fmt.Sprint(read(t, text, "").Err()); have != want {
			t.Errorf("%q\nhave %s\nwant %s", text, have, want)
		}
	}
}

// A caller adds what it finds wrong, and is shown the place in the value.
func TestRejectSetting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, value   string // the value after until, and what is wrong in it
		line, column  int
		source, caret string
	}{
		{"- url: http://h\n  until: .a == WRONG\n", "WRONG", 2, 16, "until: .a == WRONG", "WRONG"},
		{"- url: http://h\n  until: 'it''s é WRONG'\n", "WRONG", 2, 19, "until: 'it''s é WRONG'", "WRONG'"},
		{"- url: http://h\n  until: \"\\x41\\u00e9\\U0001F600\\n\\\"WRONG\"\n", "WRONG", 2, 35, `until: "\x41\u00e9\U0001F600\n\"WRONG"`, `WRONG"`},
		{"- url: http://h\n  until: \"a \\\n    b\\\n  WRONG\"\n", "WRONG", 4, 3, `WRONG"`, `WRONG"`},
		{"- url: http://h\n  until: |\n\n    .a\n      and\n\n    .b WRONG x\n  strict: yes\n", "WRONG", 7, 8, ".b WRONG x", "WRONG x"},
		{"- url: http://h\r\n  until: >-\r\n    .a\r\n    WRONG\r\n", "WRONG", 4, 5, "WRONG", "WRONG"},
		{"- url: http://h\n  until: .a\n    and  WRONG\n", "WRONG", 3, 10, "and  WRONG", "WRONG"},
		{"- url: http://h\n  until: &x !!str WRONG\n", "WRONG", 2, 19, "until: WRONG", "WRONG"},
		{"- {url: 'http://h?s3cret', until: [.a, .b WRONG], header: 's3cret'}\n", "WRONG", 1, 43, "until: .b WRONG", "WRONG"},
		{"- {url: 'http://h', until: &a WRONG}\n- {url: 'http://i', until: *a}\n", "WRONG", 1, 31, "until: WRONG", "WRONG"},
		{`{"url":"http://h?s3cret","until":"é\t\ud83d\ude00\/\"WRONG"}`, "WRONG", 1, 54, `until: "é\t\ud83d\ude00\/\"WRONG"`, `WRONG"`},
		{`{"url":"http://h", "until" : [ 1, "\ud83d WRONG" ]}`, "WRONG", 1, 43, `until: "\ud83d WRONG"`, `WRONG"`},
		{`{"url":"http://h", "until": true}`, "ue", 1, 31, `until: true`, `ue`},
		{"- url: http://h\n  header: s3cret WRONG\n", "WRONG", 2, 18, "", ""},
	} {
		f := read(t, test.text, "")
		if f.Err() != nil {
			t.Errorf("%s\n%v", test.text, f.Err())
			continue
		}
		s := &f.Entries[0].Settings[0]
		i := len(s.Values) - 1
		offset := strings.Index(s.Texts()[i], test.value)
		f.RejectSetting(s, i, offset, "wrong", "right")
		p := f.Err().(*Problems).Shown[0]
		caret := string([]rune(p.Source)[p.Caret:])
		if p.Line != test.line || p.Column != test.column || p.Source != test.source || caret != test.caret ||
			p.Message != s.Flag+": wrong" || p.Hint != "right" {
			t.Errorf("%s\nhave %d:%d %q at %q, want %d:%d %q at %q",
				test.text, p.Line, p.Column, p.Source, caret, test.line, test.column, test.source, test.caret)
		}
	}
}

// A URL may hold a secret, an item is shown.
func TestReject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, template, want string }{
		{"http://h?s3cret", "", "targets.yaml:1:1: wrong []"},
		{"- name: a\n  url: http://h?s3cret", "", "targets.yaml:2:8: url: wrong []"},
		{"- command: [s3cret]", "", "targets.yaml:1:3: wrong []"},
		{"a\nb\n", "http://h/{}", "targets.yaml:1:1: wrong [a]"},
		{"- {name: a}", "http://h/{}", "targets.yaml:1:3: wrong []"},
	} {
		f := read(t, test.text, test.template)
		f.Reject(f.Entries[0], "wrong", "")
		p := f.Err().(*Problems).Shown[0]
		if have := fmt.Sprintf("%s [%s]", p.Error(), p.Source); have != test.want {
			t.Errorf("%s: have %s, want %s", test.text, have, test.want)
		}
	}
}

// The first problems in the file are shown, whoever finds them, and all are counted.
func TestErr_order(t *testing.T) {
	t.Parallel()
	text := strings.Join(numbered("http://h/%d", 30), "\n") + "\nx\ny\n"
	f := read(t, text, "")
	for _, i := range []int{29, 3, 28, 5, 4, 27} {
		f.Reject(f.Entries[i], "wrong", "")
	}
	for i := range 22 {
		f.Reject(f.Entries[i], "odd", "")
	}
	p := f.Err().(*Problems)
	var have []int
	for _, shown := range p.Shown {
		have = append(have, shown.Line)
	}
	if want := []int{1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}; !slices.Equal(have, want) || p.Total != 30 {
		t.Errorf("have %v of %d, want %v of 30", have, p.Total, want)
	}
}

// Entries may only be the keys of elements: texts, or objects with nothing but a name.
func TestRead_keys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"41\na b\nhttp://h/\n":            "41; a b; http://h/",
		`[41, "x/1", {"name": "y"}]`:      "41; x/1; y",
		"- 41\n- name: x\n":               "41; x",
		"41\n41\n":                        "41; line 2 repeats line 1",
		`{"name":"x","until":".a"}`:       "1:14: until: an entry is the key of an element here, and only has a name",
		`{"url":"http://h/"}`:             "1:3: url: an entry is the key of an element here, and only has a name",
		`{"id":7}`:                        "1:3: id: an entry is the key of an element here, and only has a name",
		`{}`:                              "1:1: the entry has no name",
		"- command: [a]\n  name: x\n":     "1:3: command: an entry is the key of an element here, and only has a name",
		"[[1]]":                           "1:2: a text or an object is needed here, and this is a list",
		"\"a\\u0007\"":                    "1:3: the text holds a control character",
		"{\"name\":\"x\",\"name\":\"y\"}": "1:14: name: it is given twice",
	} {
		f := Read([]byte(text), Config{Name: "targets.yaml", Flags: someFlags(), Keys: true})
		var have []string
		for _, e := range f.Entries {
			if e.Item != e.Name || e.URL != "" || e.Command != nil {
				t.Errorf("%s: have %+v, want only a name", text, e)
			}
			have = append(have, e.Item)
		}
		for _, r := range f.Repeats {
			have = append(have, fmt.Sprintf("line %d repeats line %d", r.Line, r.First))
		}
		if err := f.Err(); err != nil {
			have = nil
			for _, p := range err.(*Problems).Shown {
				have = append(have, strings.TrimPrefix(p.Error(), "targets.yaml:"))
			}
		}
		if joined := strings.Join(have, "; "); joined != want {
			t.Errorf("%s: have %q, want %q", text, joined, want)
		}
	}
}
