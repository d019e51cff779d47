package targets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/argv"
)

// read reads text with a template: "", a URL, or the arguments of a command.
func read(t testing.TB, text, template string) (*File, error) {
	t.Helper()
	c := Config{Name: "targets.yaml"}
	if template != "" {
		var err error
		if c.Template, err = ParseURL(template, false); !strings.Contains(template, "://") {
			c.Template, err = ParseCommand(strings.Fields(template))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Read([]byte(text), c)
}

// said returns a description of a file, with one line for each entry, or its error.
func said(f *File, err error) string {
	var b strings.Builder
	for _, e := range f.Entries {
		fmt.Fprint(&b, e.Line)
		if e.Name != "" {
			fmt.Fprintf(&b, " %s:", e.Name)
		}
		if e.URL != "" {
			fmt.Fprintf(&b, " %s", e.URL)
		} else {
			fmt.Fprintf(&b, " %q", e.Command)
		}
		for _, s := range e.Settings {
			fmt.Fprintf(&b, " %s=%q", s.Flag, s.Texts)
		}
		b.WriteByte('\n')
	}
	for range f.Repeats {
		b.WriteString("a repeat\n")
	}
	if err != nil {
		fmt.Fprintf(&b, "%s\n", strings.TrimPrefix(err.Error(), "targets.yaml:"))
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, test := range []struct{ name, template, text, want string }{
		{"empty", "", "", ""},
		{"CSV with its columns in the URL", "http://h/{.id}", "name,id,more\na,\"1,2\",x\n# c\n\nb,3,\n", "2 a: http://h/1%2C2\n5 b: http://h/3\n"},
		{"CSV of one column", "http://h/{.id}", "id\n1\n", "2 1: http://h/1\n"},
		{"CSV with an id twice", "http://h/{.id}/{.n}", "id,n\n1,2\n1,3\n", "2 http://h/1/2\n3 http://h/1/3\n"},
		{"an id that is a name", "http://h/{.id}", "- {id: 1, name: b}\n- {id: b}\n", "1 b: http://h/1\n2 http://h/b\n"},
		{"CSV of URLs", "", "url,name\nhttp://a,x\n", "2 x: http://a\n"},
		{"CSV with a record that is too short", "http://h/{.id}", "name,id\na\n", "2: wrong number of fields\n"},
		{"CSV without a value", "http://h/{.id}", "name,id\na,\n", "2: id: the text is empty\n"},
		{"nothing but comments and blank lines", "", "# a\n\n  \t\r\n  # b", ""},
		{"no last newline, CRLF, space, a BOM", "", "\ufeff# x\r\n\r\n \thttp://a \t\r\nhttp://b", "3 http://a\n4 http://b\n"},
		{"a comment is a line", "http://h/{}", "a#b\na # b\n#c\n", "1 a#b: http://h/a%23b\n2 a # b: http://h/a%20%23%20b\n"},
		{"an item that would be a flag", "get {}", "a\n--all\n", "1 a: [\"get\" \"a\"]\n2: argument 1 of the command begins with -, and would be read as a flag\n"},
		{"a plain file of hyphens is not YAML", "get x{}", "-a\n--\n", "1 -a: [\"get\" \"x-a\"]\n2 --: [\"get\" \"x--\"]\n"},
		{"NDJSON", "", `{"url":"http://a","name":"x","until":[".a==\"b\"",".c"],"timeout":"1m"}` + "\n\n" + `{"command":["true","a b"],"strict":true}`,
			"1 x: http://a until=[\".a==\\\"b\\\"\" \".c\"] timeout=[\"1m\"]\n3 [\"true\" \"a b\"] strict=[\"true\"]\n"},
		{"JSON over several lines, without a list", "", "{\n \"url\": \"http://a\"\n}\n{\n}", "1 http://a\n4: the entry has neither a url nor a command\n"},
		{"a JSON list", "", "[\"http://a\",\n {\"url\":\"http://b\",\"max-attempts\":010e1}]", "1 http://a\n2: invalid character '1' after object key:value pair\n"},
		{"numbers in JSON stay as they are", "http://h/{}", `[1, 1e3, {"name":1.50,"max-attempts":3}, -0]`,
			"1 1: http://h/1\n1 1e3: http://h/1e3\n1 1.50: http://h/1.50 max-attempts=[\"3\"]\n1 -0: http://h/-0\n"},
		{"YAML", "", "# all\n- http://a\n- name: x\n  url: http://b # b\n  until: .state==\"done\"\n  error-if: [.a, '.b']\n- command: [sh, -c, 'echo a']\n",
			"2 http://a\n3 x: http://b until=[\".state==\\\"done\\\"\"] error-if=[\".a\" \".b\"]\n7 [\"sh\" \"-c\" \"echo a\"]\n"},
		{"YAML values stay as they are written", "http://h/{}", "- 010\n- 1e3\n- yes\n- 2026-11-21\n- 0x1F\n- 1_000\n- 12:30:45\n- .inf\n- =\n",
			"1 010: http://h/010\n2 1e3: http://h/1e3\n3 yes: http://h/yes\n4 2026-11-21: http://h/2026-11-21\n5 0x1F: http://h/0x1F\n6 1_000: http://h/1_000\n7 12:30:45: http://h/12:30:45\n8 .inf: http://h/.inf\n9 =: http://h/=\n"},
		{"conditions as they are written", "", "- url: http://a\n  until: .n==010\n  error-if: .a == \"b\" or .c\n  timeout: 010\n  max-attempts: 1e3\n",
			"1 http://a until=[\".n==010\"] error-if=[\".a == \\\"b\\\" or .c\"] timeout=[\"010\"] max-attempts=[\"1e3\"]\n"},
		{"switches", "", "- {url: 'http://a', strict: true}\n- {url: 'http://b', strict: No}\n- {url: 'http://c', strict: maybe}\n",
			"1 http://a strict=[\"true\"]\n2 http://b strict=[\"No\"]\n3 http://c strict=[\"maybe\"]\n"},
		{"anchors and aliases", "", "- url: &u http://a\n  until: &c [.a, .b]\n  timeout: &t 1m\n- url: *u\n  until: *c\n  timeout: !!str 2m\n- url: http://b\n  timeout: *t\n",
			"1 http://a until=[\".a\" \".b\"] timeout=[\"1m\"]\n4 http://a until=[\".a\" \".b\"] timeout=[\"2m\"]\n7 http://b timeout=[\"1m\"]\n"},
		{"an object at the line of its alias", "", "- &a {url: 'http://a'}\n- url: http://b\n  until: *a\n", "1 http://a\n3: until: this has to be a text, but it is an object\n"},
		{"a YAML tag", "", "- url: !foo x\n", "1: url: this has to be a text, but it is a YAML tag, since it begins with !\n"},
		{"an alias of its own list", "", "- &a [*a]\n- url: &b [*b]\n", "1: this has to be a text or an object, but it is a list\n"},
		{"a field that is missing", "http://h/{.id}", "- {name: x}\n- y\n", "1: the entry has no id, which {.id} stands for\n"},
		{"a field of a text", "http://h/{.id}", "y\n", "1: the entry is a text, and {.id} needs an object with that field\n"},
		{"the same in another order", "", "- {url: 'http://a', timeout: 1m, strict: yes}\n- strict: yes\n  url: http://a\n  timeout: '1m'\n- {url: 'http://a', timeout: 1m}\n",
			"1 http://a timeout=[\"1m\"] strict=[\"yes\"]\n5 http://a timeout=[\"1m\"]\na repeat\n"},
		{"settings that differ by one thing", "", "- {url: 'http://a', until: x}\n- {url: 'http://a', error-if: x}\n- {url: 'http://a', until: [x, y]}\n- {url: 'http://a', until: xy}\n- {url: 'http://a', until: [y, x]}\n",
			"1 http://a until=[\"x\"]\n2 http://a error-if=[\"x\"]\n3 http://a until=[\"x\" \"y\"]\n4 http://a until=[\"xy\"]\n5 http://a until=[\"y\" \"x\"]\n"},
		{"one page in two spellings", "", "http://h/x?a\nHTTP://H:80/x?a#b\nhttp://me:pass@h/x?a\nhttp://h/x/?a\n", "1 http://h/x?a\n3 http://me:pass@h/x?a\n4 http://h/x/?a\na repeat\n"},
		{"commands that differ", "", "- command: [a, b c]\n- command: [a, b, c]\n- command: [a, 'b c']\n", "1 [\"a\" \"b c\"]\n2 [\"a\" \"b\" \"c\"]\na repeat\n"},
		{"items like keys, but for the first", "http://h/{}", "a\nname: b\n", "1 a: http://h/a\n2 name: b: http://h/name:%20b\n"},
		{"a control character at the start", "http://h/{}", "\x01a\nb", "1: the text holds a control character\n"},
		{"an error in a list ends it", "", "[\n{\"url\":\"http://a\"}\n{\"url\":\"http://b\"},\n{}\n]", "2 http://a\n3: expected comma after array element\n"},
		{"after what is nested too deep", "", `[{"url":{"a":[["]",{"b":"\"}"}]]},"x":1},"http://a"]`,
			"1: url: this has to be a text, but it is an object\n"},
		{"an alias of an entry beside a broken one", "", "- &a http://a\n- url: *a\n- @\n", "3: this is not YAML: found character that cannot start any token\n"},
		{"one name for two targets", "", "- {name: x, url: 'http://a'}\n- {name: x, url: 'http://b'}\n- {name: x, url: 'http://a'}\n- {name: y, url: 'http://a'}\n",
			"1 x: http://a\n2: another target, of line 1, has the same name\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, said(read(t, test.text, test.template))); diff != "" {
				t.Errorf("%q (-want +have):\n%s", test.text, diff)
			}
		})
	}
}

// Read rejects everything that exceeds a limit. It rejects a list of a million aliases before they take memory.
func TestRead_limits(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	values := "[" + many("a,", 999) + "a]"
	for _, test := range []struct{ name, text, want string }{
		{"a bomb", "- &a [" + many("x,", 9) + "]\n- &b [" + many("*a,", 9) + "]\n- &c [" + many("*b,", 9) + "]\n- {url: 'http://h', until: *c}\n", "a list"},
		{"aliases of entries", "- &a {url: 'http://h', until: " + values + "}\n" + many("- *a\n", 200), "stand for too many values"},
		{"a list of 1,000 values", "- {url: 'http://h', until: " + values + "}\n", ""},
		{"a list of 1,001 values", "- {url: 'http://h', until: [" + many("a,", 1001) + "]}\n", "until: the list is empty, or has more than 1000 values"},
		{"keys", "- {" + many("x", 2) + ": 1, " + strings.Join(numbered("k%d: 1", 100), ", ") + "}\n", "more than 100 keys"},
		{"a long key", "- {url: http://h, ? " + many("x", 65) + " : 1}", "targets.yaml:1: an entry cannot have this key"},
		{"nesting", "- " + many("[", 20000), "this is not YAML"},
		{"nesting in a JSON entry", `{"url":{"a":` + many("[", 500) + many("]", 500) + `}}`, "url: this has to be a text, but it is an object"},
		{"a long line", "http://h/" + many("a", 70000), "the text is longer than 64 KiB"},
		{"a large YAML file", "- a\n" + many("#", 4<<20), "poll reads at most 4 MiB of YAML"},
		{"a large file", many("#", MaxSize+1), "larger than 16 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(t, test.text, "")
			if said := fmt.Sprint(err); test.want == "" && err != nil || !strings.Contains(said, test.want) || len(said) > 300 {
				t.Errorf("have %.400s, want %s", said, test.want)
			}
		})
	}
}

func TestRead_manyEntries(t *testing.T) {
	for _, text := range []string{"http://a\nhttp://b\nhttp://c", "- http://a\n- http://b\n- http://c", `["http://a","http://b","http://c"]`, `"http://a" "http://b" "http://c"`} {
		f := &File{known: map[string]bool{}, named: map[string]int{}, count: maxEntries - 2}
		err := f.read([]byte(text))
		if want := "the file has more than 1,000,000 entries"; len(f.Entries) != 2 || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s\nhave %v, want 2 entries and %s", text, err, want)
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

// Some errors concern the file as a whole.
func TestRead_notText(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfea\x00\n\x00":                          "targets.yaml: it is UTF-16, but poll reads UTF-8 only",
		"http://a\nhttp://é\xff":                       "targets.yaml:2: a byte that is not UTF-8",
		"http://a\x00http://b\n":                       "targets.yaml:1: there is a NUL byte, which no text can hold",
		"- http://a\n---\n- http://b\n":                "targets.yaml:2: a second document begins",
		"%YAML 1.1\n---\nname: a\n":                    "targets.yaml:3: the file is a list, but this is not an item of it",
		"name: a\nurl: http://b\n":                     "targets.yaml:1: the file is a list, but this line is a key of an object",
		"http://a\n- http://b\n{}\n":                   "targets.yaml:2: this line is an entry of another format than the lines before it",
		"[\"http://a\"] [\"http://b\"]":                "targets.yaml:1: there is more after the end of the list",
		"[\"http://a\",]":                              "targets.yaml:1: invalid character ']' looking for beginning of value",
		"[\"http://a\",\n\n":                           "targets.yaml:1: the file ends before this is closed",
		"{\"url\":\"http://a":                          "targets.yaml:1: the file ends before this is closed",
		"{'url':1}\n{\"url\":tru}\n{\"url\" 1}\n":      "targets.yaml:1: invalid character '\\'' looking for beginning of object key string",
		"\"http://a/\\u0000\"\n":                       "targets.yaml:1: the text holds a control character",
		"{\"url\":\"http://h\",\"data\":\"a\\u0000\"}": "targets.yaml:1: data: the text holds a NUL byte",
	} {
		_, err := read(t, text, "")
		if have := fmt.Sprint(err); have != want {
			t.Errorf("%q\nhave %s\nwant %s", text, have, want)
		}
	}
}

// With Config.Keys, entries are keys of elements: texts, or objects with only a name.
func TestRead_keys(t *testing.T) {
	for text, want := range map[string]string{
		"41\na b\nhttp://h/\n":            "41; a b; http://h/",
		`[41, "x/1", {"name": "y"}]`:      "41; x/1; y",
		"- 41\n- name: x\n":               "41; x",
		"41\n41\n":                        "41; a repeat",
		"http://h\nhttp://H\n":            "http://h; http://H",
		`{"name":"x","until":".a"}`:       "1: until: here an entry is the key of an element, and can only have a name",
		`{}`:                              "1: the entry has no name",
		"- command: [a]\n  name: x\n":     "1: command: here an entry is the key of an element, and can only have a name",
		"{\"name\":\"x\",\"name\":\"y\"}": "1: name: the key is given twice",
	} {
		f, err := Read([]byte(text), Config{Name: "targets.yaml", Keys: true})
		var have []string
		for _, e := range f.Entries {
			if e.Item != e.Name || e.URL != "" || e.Command != nil {
				t.Errorf("%s: have %+v, want only a name", text, e)
			}
			have = append(have, e.Item)
		}
		for range f.Repeats {
			have = append(have, "a repeat")
		}
		if err != nil {
			have = []string{strings.TrimPrefix(err.Error(), "targets.yaml:")}
		}
		if joined := strings.Join(have, "; "); joined != want {
			t.Errorf("%s: have %q, want %q", text, joined, want)
		}
	}
}

// Arbitrary bytes are entries, or an error at a line of the file.
func FuzzRead(f *testing.F) {
	for _, template := range []string{"", "https://h/{}?x={.id}"} {
		for _, seed := range []string{
			"http://a\n# b\n\n c\r\nd", "- http://a\n- {url: http://b, until: .x, timeout: 1m}\n", "[\"http://a\",{\"url\":\"http://b\"}]",
			"{\"url\":\"http://a\"}\n{\"name\":\"b\",\"id\":7}\n{", "- &a [*a]\n- *a\n- url: &b \"\\x41\\\n  b\"\n", "- name: |\n   a\n  id: >-\n   b\n\n   c\n",
			"%YAML 1.1\n---\n- a\n---\n- b", "- a: b: c\n- [\n- 'x\n", "\ufeff- a\x00\xff\n", "\"\\ud83d\\ude00\"\n\"\\ud83d\"", "- !!binary x\n- ? [a]\n  : b\n",
			"[[[[1]]],{\"a\":{\"b\":[1]}}]", "- é: ü\n  é: ü\n- {a: 1, a: 2}\n",
		} {
			f.Add(seed, template)
		}
	}
	f.Fuzz(func(t *testing.T, text, template string) {
		if len(text) > 1<<14 {
			return
		}
		var c Config
		if template != "" {
			var err error
			if c.Template, err = ParseURL(template, false); err != nil {
				return
			}
		}
		file, err := Read([]byte(text), c)
		last, lines := 0, strings.Count(text, "\n")+strings.Count(text, "\r")+1 // YAML, 5.4
		for _, e := range file.Entries {
			if e.Line < last || e.Line > lines || (e.URL == "") == (e.Command == nil) {
				t.Fatalf("%q: an entry after line %d: %+v", text, last, e)
			}
			last = e.Line
		}
		line := 0
		fmt.Sscanf(fmt.Sprint(err), ":%d:", &line)
		if err != nil && (!argv.IsUsage(err) || line < 0 || line > lines+1) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
