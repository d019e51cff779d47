package targets

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the pages of errors")

// page is what a user is shown, but for what a terminal needs.
func page(p *Problems) string {
	var b strings.Builder
	for _, shown := range p.Shown {
		fmt.Fprintln(&b, shown.Error())
		if shown.Source != "" {
			fmt.Fprintf(&b, "  %s\n  %s^\n", shown.Source, strings.Repeat(" ", shown.Caret))
		}
		if shown.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", shown.Hint)
		}
	}
	fmt.Fprintf(&b, "%d in all\n", p.Total)
	return b.String()
}

func TestErrorPages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/errors/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if filepath.Ext(name) == ".golden" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		template := ""
		if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, "# template: ") {
			template = strings.TrimPrefix(first, "# template: ")
		}
		have := page(read(t, string(text), template).Err().(*Problems))
		if strings.Contains(have, "s3cret") {
			t.Errorf("%s: a secret is shown:\n%s", name, have)
		}
		golden := name + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(have), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), have); diff != "" {
			t.Errorf("%s (-want +have):\n%s", name, diff)
		}
	}
}

// Arbitrary bytes are entries or problems, each where it says it is.
func FuzzRead(f *testing.F) {
	for _, template := range []string{"", "https://h/{}?x={.id}"} {
		for _, seed := range []string{
			"http://a\n# b\n\n c\r\nd", "- http://a\n- {url: http://b, until: .x, timeout: 1m}\n", "[\"http://a\",{\"url\":\"http://b\"}]",
			"{\"url\":\"http://a\"}\n{\"name\":\"b\",\"id\":7}\n{", "- &a [*a]\n- *a\n- url: &b \"\\x41\\\n  b\"\n", "- name: |\n   a\n  id: >-\n   b\n\n   c\n",
			"%YAML 1.1\n---\n- a\n---\n- b", "- a: b: c\n- [\n- 'x\n", "\ufeff- a\x00\xff\n", "\"\\ud83d\\ude00\"\n\"\\ud83d\"", "- !!binary x\n- ? [a]\n  : b\n",
			"- until: \"a\r\n\r\n  b\\\r\n c\"\n  <<: *x\n", "-\t- a\n-\n", "[[[[1]]],{\"a\":{\"b\":[1]}}]", "- é: ü\n  é: ü\n- {a: 1, a: 2}\n",
		} {
			f.Add(seed, template)
		}
	}
	f.Fuzz(func(t *testing.T, text, template string) {
		if len(text) > 1<<14 {
			return
		}
		c := Config{Flags: someFlags()}
		if template != "" {
			var err error
			if c.Template, err = ParseURL(template); err != nil {
				return
			}
		}
		file := Read([]byte(text), c)
		lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
		check := func(line, column int, what string) {
			if line < 1 || line > len(lines) || column < 1 || column > utf8.RuneCountInString(lines[line-1])+1 {
				t.Fatalf("%q: %s is at %d:%d", text, what, line, column)
			}
		}
		last := 0
		for _, e := range file.Entries {
			check(e.Line, e.Column, "an entry")
			if e.Line < last || (e.URL == "") == (e.Command == nil) {
				t.Fatalf("%q: an entry after line %d: %+v", text, last, e)
			}
			last = e.Line
			for i := range e.Settings {
				for j, v := range e.Settings[i].Values {
					file.RejectSetting(&e.Settings[i], j, len(v.Text)/2, "wrong", "")
				}
			}
		}
		if err := file.Err(); err != nil {
			for _, p := range err.(*Problems).Shown {
				if p.Line != 0 {
					check(p.Line, p.Column, p.Message)
				}
				if p.Caret < 0 || p.Caret > utf8.RuneCountInString(p.Source)+1 {
					t.Fatalf("%q: %+v", text, p)
				}
			}
		}
	})
}

// A place in a value is where its character stands, in whatever way the value is written.
func FuzzInSource(f *testing.F) {
	f.Add("a é\n\n  b  c\t\"d\" 'e' \\f\n", 3)
	f.Add("it's\n so\n", 5)
	f.Add("😀 x: y # z", 2)
	f.Fuzz(func(t *testing.T, value string, at int) {
		if at < 0 || at >= len(value) || !utf8.RuneStart(value[at]) || value[at] <= ' ' || strings.ContainsFunc(value, func(r rune) bool {
			return r == utf8.RuneError || r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\ufeff' || r>>8 == 0x20)
		}) {
			return
		}
		r, _ := utf8.DecodeRuneInString(value[at:])
		for _, text := range writtenAs(value) {
			file := read(t, text, "")
			if file.Err() != nil || len(file.Entries[0].Settings) == 0 {
				continue
			}
			s := &file.Entries[0].Settings[0]
			if s.Values[0].Text != value {
				continue
			}
			file.RejectSetting(s, 0, at, "wrong", "")
			p := file.Err().(*Problems).Shown[0]
			line := []rune(strings.Split(text, "\n")[p.Line-1])
			if p.Column > len(line) || line[p.Column-1] != r && line[p.Column-1] != '\\' {
				t.Errorf("%q at %d, %c: have %d:%d in\n%s", value, at, r, p.Line, p.Column, text)
			}
		}
	})
}

// writtenAs writes a value of until in several ways, of which some may be another value.
func writtenAs(value string) []string {
	indented := strings.ReplaceAll(value, "\n", "\n    ")
	folded := strings.ReplaceAll(value, "\n", "\n\n    ")
	return []string{
		"- url: http://h\n  until: " + value + "\n",
		"- url: http://h\n  until: " + folded + "\n",
		"- url: http://h\n  until: '" + strings.ReplaceAll(folded, "'", "''") + "'\n",
		"- url: http://h\n  until: \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + "\"\n",
		"- url: http://h\n  until: |-\n    " + indented + "\n",
		"- url: http://h\n  until: >-\n    " + folded + "\n",
		fmt.Sprintf("{\"url\":\"http://h\",\"until\":%s}", strings.ReplaceAll(fmt.Sprintf("%q", value), `\x`, `\u00`)),
	}
}
