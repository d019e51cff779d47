package term

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", `.state is "done"`, `.state is "done"`},
		{"empty", "", ""},
		{"newlines", "a\nb\r\nc", `a\nb\nc`},
		{"tab", "a\tb", "a b"},
		{"escape sequence", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"lone return", "a\rb", `a\x0db`},
		{"C1", "a\u009bb", `a\x9bb`},
		{"invalid UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"bidi override", "abc\u202edef", `abc\u{202e}def`},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"joiners stay", "\u0646\u200c\u0645 👩\u200d🚀", "\u0646\u200c\u0645 👩\u200d🚀"},
		{"CI command inside", "x ##[group]y ##vso[task.complete]z", `x #\x23[group]y #\x23vso[task.complete]z`},
		{"heading", "## Title [1]", "## Title [1]"},
	}
	for _, test := range tests {
		if have := Line(test.in); have != test.want {
			t.Errorf("%s: Line(%q)\nhave %q\nwant %q", test.name, test.in, have, test.want)
		}
	}
}

func TestBlock(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"lines", "a\n\nb\n", "| a\n| \n| b\n"},
		{"no end", "a\nb", "| a\n| b\n"},
		{"progress bar", "10%\r20%\n", `| 10%\x0d20%` + "\n"},
		{"tab stops", "a\tb\n\tc", "| a    b\n|     c\n"},
		{"actions command", "::error::x\n  ::set-env name=A::b", "| ::error::x\n|   ::set-env name=A::b\n"},
	}
	for _, test := range tests {
		if have := Block(test.in); have != test.want {
			t.Errorf("%s: Block(%q)\nhave %q\nwant %q", test.name, test.in, have, test.want)
		}
	}
}

func TestLines(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		want   string
		rest   string
	}{
		{"in pieces", []string{"a", "b\r", "\nc"}, "| ab\n", "| c\n"},
		{"many at once", []string{"a\nb\n\nc\n"}, "| a\n| b\n| \n| c\n", ""},
		{"a split rune", []string{"\xe6\x97", "\xa5\n"}, "| 日\n", ""},
		{"a split escape", []string{"\x1b", "[2J\n"}, `| \x1b[2J` + "\n", ""},
	}
	for _, test := range tests {
		var l Lines
		have := ""
		for _, s := range test.writes {
			have += l.Add([]byte(s))
		}
		if have != test.want {
			t.Errorf("%s: added\nhave %q\nwant %q", test.name, have, test.want)
		}
		if have := l.Rest() + l.Rest(); have != test.rest {
			t.Errorf("%s: the rest\nhave %q\nwant %q", test.name, have, test.rest)
		}
	}
}

// Lines returns a line that is too long in pieces.
func TestLines_longLine(t *testing.T) {
	var l Lines
	line := strings.Repeat("é", 3*maxLine/2)
	have := l.Add([]byte(line + "\n"))
	if joined := strings.ReplaceAll(have, "\n"+prefix, ""); joined != prefix+line+"\n" || strings.Index(have, "\n") > maxLine+len(prefix) {
		t.Errorf("have %d bytes, the first line of %d", len(have), strings.Index(have, "\n"))
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  string
	}{
		{"abcd", 3, "ab…"},
		{"abcd", 0, ""},
		{"日本語", 4, "日…"}, // half of a wide character is left out
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👩\u200d🚀👩\u200d🚀", 3, "👩\u200d🚀…"},
	}
	for _, test := range tests {
		if have := Cut(test.in, test.width, "…"); have != test.want {
			t.Errorf("Cut(%.20q, %d) = %q, want %q", test.in, test.width, have, test.want)
		}
	}
	for width, want := range map[int]string{7: "…本語/1", 18: "https://a/日本語/1"} {
		if have := CutFront("https://a/日本語/1", width, "…"); have != want {
			t.Errorf("the end of %d columns is %q", width, have)
		}
	}
}

func TestFold(t *testing.T) {
	red := "\x1b[31;1mstill\x1b[0m"
	for text, want := range map[string][]string{
		"":                           {""},
		"it fits":                    {"it fits"},
		"this one does not fit":      {"this one", "  does not", "  fit"},
		"https://a/longer/one is":    {"https://a/longer/one", "  is"},
		"a https://a/longer/one":     {"a", "  https://a/longer/one"},
		"  two  three four five":     {"  two  three", "  four five"},
		"日本語 日本語":                    {"日本語", "  日本語"},
		"a " + red + " b c and more": {"a " + red + " b c", "  and more"},
	} {
		if have := Fold(text, 12, "  "); !slices.Equal(have, want) {
			t.Errorf("%q: have %q, want %q", text, have, want)
		}
	}
}

func env(pairs map[string]string) func(string) string {
	return func(k string) string { return pairs[k] }
}

func TestUnicodeLocale(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, false},
		{map[string]string{"LANG": "C", "LC_ALL": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C"}, false},
	}
	for _, test := range tests {
		if have := unicodeLocale(env(test.env)); have != test.want {
			t.Errorf("%v: have %v, want %v", test.env, have, test.want)
		}
	}
}

// A pipe gets the output piece by piece, and a file gets it all at once.
func TestOutput(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	if _, err := newOutput(w, func() {}).Write([]byte("x")); err == nil {
		t.Error("nobody reads, and there is no error")
	}
	for f, want := range map[*os.File][]int{file: {9000}, w: {4096, 4096, 808}} {
		var have []int
		told := 0
		out := newOutput(f, func() { told++ })
		out.w = writerFunc(func(p []byte) (int, error) {
			have = append(have, len(p))
			return len(p), nil
		})
		if n, err := out.Write(make([]byte, 9000)); n != 9000 || err != nil || told != len(want) || !slices.Equal(have, want) {
			t.Errorf("%d bytes, error %v, in pieces of %v, want %v; told of %d", n, err, have, want, told)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestPalette(t *testing.T) {
	tests := []struct {
		name    string
		streams Streams
		mode    ColorMode
		want    bool
	}{
		{"terminal", Streams{ErrIsTerminal: true}, ColorAuto, true},
		{"pipe", Streams{}, ColorAuto, false},
		{"stdout does not count", Streams{OutIsTerminal: true}, ColorAuto, false},
		{"NO_COLOR", Streams{ErrIsTerminal: true, NoColor: true}, ColorAuto, false},
		{"dumb", Streams{ErrIsTerminal: true, Dumb: true}, ColorAuto, false},
		{"always in a pipe", Streams{}, ColorAlways, true},
		{"always beats NO_COLOR", Streams{NoColor: true}, ColorAlways, true},
		{"never on a terminal", Streams{ErrIsTerminal: true}, ColorNever, false},
	}
	for _, test := range tests {
		want := "x"
		if test.want {
			want = "\x1b[32mx\x1b[0m"
		}
		if have := test.streams.Palette(test.mode).Paint(Good, "x"); have != want {
			t.Errorf("%s: have %q, want %q", test.name, have, want)
		}
	}
}

func TestPalette_environment(t *testing.T) {
	// The color package reads NO_COLOR for every colour.
	t.Setenv("NO_COLOR", "1")
	s := Streams{}
	if have, want := s.Palette(ColorAlways).Paint(Good, "x"), "\x1b[32mx\x1b[0m"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}
